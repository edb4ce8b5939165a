package media

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"pgregory.net/rapid"
)

func TestCBORHeadsAreAsTheLibraryWritesThem(t *testing.T) {
	for _, n := range []int{0, 1, 23, 24, 255, 256, 65535, 65536, 1 << 20} {
		text := strings.Repeat("x", n)
		want, err := direct.Marshal(text)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, appendBytes(nil, text)), n)
		want, err = direct.Marshal(make([]any, n))
		require.NoError(t, err)
		head := appendHead(nil, majorArray, n)
		assert.Equal(t, head, want[:len(head)], n)
		assert.Len(t, want, len(head)+n)
	}
}

// countCBOR counts the items of a value as CBOR.
func countCBOR(value any) int {
	count := 1
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			count += countCBOR(element)
		}
	case map[string]any:
		for _, member := range value {
			count += 1 + countCBOR(member)
		}
	}
	return count
}

// trees draws values as JSON has them, so deep at most.
func trees(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
		case kind == 0 && depth > 0:
			return rapid.SliceOfN(trees(depth-1), 0, 30).Draw(t, "list")
		case kind == 1 && depth > 0:
			return rapid.MapOfN(rapid.String(), trees(depth-1), 0, 3).Draw(t, "map")
		case kind == 2:
			return rapid.Int64().Draw(t, "number")
		case kind == 3:
			return rapid.Float64Range(-1e9, 1e9).Draw(t, "float")
		case kind == 4:
			return rapid.Bool().Draw(t, "bool")
		case kind == 5:
			return nil
		}
		return strings.Repeat(rapid.String().Draw(t, "text"), rapid.IntRange(0, 30).Draw(t, "times"))
	})
}

func TestItemsOfCBORAreCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := trees(3).Draw(t, "value")
		body, err := direct.Marshal(value)
		require.NoError(t, err)
		count := countCBOR(value)
		assert.True(t, atMostItems(body, count))
		assert.False(t, atMostItems(body, count-1))
	})
}

func TestIndefiniteAndBrokenCBORIsCountedToo(t *testing.T) {
	indefinite := []byte("\x9f\x7f\x61a\x61b\xff\x01\xff") // [_ (_ "a", "b"), 1], each end an item of its own here
	assert.True(t, atMostItems(indefinite, 7))
	assert.False(t, atMostItems(indefinite, 6))
	for _, broken := range []string{"", "\x58", "\x59\x01", "\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "\x9b\x00", "\x1c", "\x7f"} {
		assert.True(t, atMostItems([]byte(broken), 3), "%x", broken)
	}
	assert.False(t, atMostItems(bytes.Repeat([]byte{0xa0}, 100), 99))
}
