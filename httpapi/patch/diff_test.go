package patch_test

import jsonpatch "gopkg.in/evanphx/json-patch.v4"

func diff(before, after []byte) ([]byte, error) { return jsonpatch.CreateMergePatch(before, after) }
