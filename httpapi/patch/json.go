package patch

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/leasehold/leasehold/httpapi/object"
)

// MaxOperations is the largest number of operations in one JSON patch.
const MaxOperations = 10000

// applyToText runs the two kinds of patch that work on the object's JSON.
func applyToText(kind object.Kind, patchType types.PatchType, current object.Object, body []byte, fieldValidation string) (object.Object, []error, error) {
	text, err := encode(kind, current)
	if err != nil {
		return nil, nil, err
	}
	transform := mergePatch
	if patchType == types.JSONPatchType {
		transform = jsonPatch
	}
	patched, own, err := transform(text, body, fieldValidation)
	if err != nil {
		return nil, nil, err
	}
	patched = kind.TimesInJSON(patched)
	next, complaints, err := decode(kind, patched)
	if err != nil {
		return nil, nil, noResult(string(patched), err)
	}
	complaints, err = judge(append(own, complaints...), string(patched), fieldValidation)
	return next, complaints, err
}

// jsonPatchOp is the shape of one entry of a JSON patch. It is only used to find keys that are not of it. Clients are told its
// name, which is the one in kube-apiserver.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func jsonPatch(text, body []byte, fieldValidation string) (patched []byte, complaints []error, err error) {
	if fieldValidation != metav1.FieldValidationIgnore {
		var operations []jsonPatchOp
		complaints, err = kjson.UnmarshalStrict(body, &operations)
		if err != nil {
			// Of an error about types the sentence shows the type's name, which is another at kube-apiserver.
			message := strings.ReplaceAll(err.Error(), "patch.jsonPatchOp", "handlers.jsonPatchOp")
			return nil, nil, refuse(ErrMalformed, "error decoding patch: "+message)
		}
		for i, complaint := range complaints {
			complaints[i] = fmt.Errorf("json patch %w", complaint)
		}
	}
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, nil, refuse(ErrMalformed, err.Error())
	}
	if len(operations) > MaxOperations {
		return nil, nil, refuse(ErrTooManyOperations, fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", MaxOperations, len(operations)))
	}
	patched, err = run(operations, text)
	if err != nil {
		return nil, nil, refuse(ErrImpossible, err.Error())
	}
	return patched, complaints, nil
}

// maxCopied bounds what the copies of one JSON patch may add together, in bytes; kube-apiserver's bound. Without it thirty
// operations of which each copies what there is so far fill any memory.
const maxCopied = 3 << 20

// limitCopies sets the library's bound, which is the same for all that run in a process.
var limitCopies = sync.OnceFunc(func() { jsonpatch.AccumulatedCopySizeLimit = maxCopied })

// run applies operations. The library fails by panicking where some have no value, as in a test of the whole document.
func run(operations jsonpatch.Patch, text []byte) (patched []byte, err error) {
	limitCopies()
	defer func() {
		if fault := recover(); fault != nil {
			patched, err = nil, fmt.Errorf("operation cannot be done: %v", fault)
		}
	}()
	return operations.Apply(text)
}

func mergePatch(text, body []byte, fieldValidation string) (patched []byte, complaints []error, err error) {
	if fieldValidation != metav1.FieldValidationIgnore {
		complaints, err = kjson.UnmarshalStrict(body, &map[string]any{})
		if err != nil {
			return nil, nil, refuse(ErrMalformed, fmt.Sprintf("error decoding patch: %v", err))
		}
	}
	if nesting(body) > maxNesting {
		return nil, nil, refuse(ErrTooManyOperations, fmt.Sprintf("The allowed maximum nesting of a merge patch is %d", maxNesting))
	}
	patched, err = jsonpatch.MergePatch(text, body)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return nil, nil, refuse(ErrMalformed, err.Error())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("merge patch: %w", err)
	}
	return patched, complaints, nil
}

// maxNesting bounds how deep a merge patch goes, of which no object of here needs ten. The library writes anew at each level
// all that is below it: 9,000 levels in a body of 54 KB took it seconds and gigabytes.
const maxNesting = 64

// nesting is how deep a JSON text goes; of what is no JSON it is any number.
func nesting(text []byte) (deepest int) {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
