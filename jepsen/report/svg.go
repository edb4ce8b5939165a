package report

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// canvas is an SVG picture being drawn.
type canvas struct {
	b             bytes.Buffer
	width, height float64
}

// put draws an element. Each %v of the format is filled with an argument, escaped if it is text.
func (c *canvas) put(format string, args ...any) {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			safe[i] = escape(arg)
		case float64:
			safe[i] = coordinate(arg)
		default:
			safe[i] = arg
		}
	}
	fmt.Fprintf(&c.b, format, safe...)
	c.b.WriteByte('\n')
}

// bytes returns the whole picture. class is that of the svg element, label what a screen reader says.
func (c *canvas) bytes(class, label string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %s %s" role="img" aria-label="%s">`+"\n",
		class, coordinate(c.width), coordinate(c.height), escape(label))
	out.WriteString("<style>" + pictureStyle + "</style>\n")
	fmt.Fprintf(&out, `<rect class="paper" width="%s" height="%s"/>`+"\n", coordinate(c.width), coordinate(c.height))
	out.Write(c.b.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// escape makes any string fit for XML, also where it holds what XML cannot.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || r == 0xfffe || r == 0xffff {
			return '\u00b7'
		}
		return r
	}, s))
}

// coordinate writes a length in pixels, to a tenth.
func coordinate(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// textWidth estimates the width in pixels of text of the given size.
func textWidth(s string, size float64) float64 {
	return float64(utf8.RuneCountInString(s)) * size * 0.6
}

// fit cuts text to a width in pixels; the rest becomes an ellipsis.
func fit(s string, size, width float64) string {
	if textWidth(s, size) <= width {
		return s
	}
	room := int(width/(size*0.6)) - 1
	if room < 1 {
		return ""
	}
	return string([]rune(s)[:room]) + "…"
}

// pictureStyle gives colours for light and for dark. A picture in a page has the page's colours, since both are the same.
const pictureStyle = `
svg{--paper:#fff;--ink:#1d2330;--soft:#667085;--grid:#e6e8ee;--lane:#f5f6f9;
--ok:#3b6fd4;--fail:#b35c00;--info:#c2258f;--bad:#d0202e;--read:#0f8a7a;--write:#3b6fd4;--good:#2e9d5b;
--n0:#3b6fd4;--n1:#d0681b;--n2:#2e9d5b;--n3:#9450c8;--n4:#b0892a;--n5:#0f8a7a;--n6:#c2258f;
--kill:#e5484d;--pause:#4c7df0;--partition:#e8b600;--packet:#3fae5a;--clock:#12b5cb;--disk:#a0683a;--member:#d45fb5;--load:#8b8f9c;--other:#7a5af0;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;font-size:11px}
@media (prefers-color-scheme:dark){svg{--paper:#14171f;--ink:#e7eaf2;--soft:#98a1b3;--grid:#2a2f3b;--lane:#1a1e28;
--ok:#78a5ff;--fail:#f0ad3d;--info:#f06bc4;--bad:#ff6b6b;--read:#3cc9b4;--write:#78a5ff;--good:#52c982;
--n0:#78a5ff;--n1:#f5995a;--n2:#52c982;--n3:#bd8cf0;--n4:#dcb85a;--n5:#3cc9b4;--n6:#f06bc4}}
text{fill:var(--ink)}.paper{fill:var(--paper)}.title{font-size:15px;font-weight:600}.soft{fill:var(--soft)}.small{font-size:10px}.strong{font-weight:600}
.end{text-anchor:end}.mid{text-anchor:middle}.grid{stroke:var(--grid);fill:none}.lane{fill:var(--lane)}.frame{stroke:var(--grid);fill:none}
.f-kill{fill:var(--kill);stroke:var(--kill)}.f-pause{fill:var(--pause);stroke:var(--pause)}.f-partition{fill:var(--partition);stroke:var(--partition)}
.f-packet{fill:var(--packet);stroke:var(--packet)}.f-clock{fill:var(--clock);stroke:var(--clock)}.f-disk{fill:var(--disk);stroke:var(--disk)}
.f-member{fill:var(--member);stroke:var(--member)}.f-load{fill:var(--load);stroke:var(--load)}.f-other{fill:var(--other);stroke:var(--other)}
.tint{fill-opacity:.1;stroke:none}.faint{fill-opacity:.04}.band{fill-opacity:.42;stroke-opacity:.9}.unfelt{fill-opacity:.06;stroke-dasharray:3 2}
.dots{fill:none;stroke-linecap:round;stroke-width:2.4}.s-ok{stroke:var(--ok)}.s-fail{stroke:var(--fail)}.s-info{stroke:var(--info)}
.a-ok{fill:var(--ok)}.a-fail{fill:var(--fail)}.a-info{fill:var(--info)}.a-bad{fill:var(--bad)}.a-good{fill:var(--good)}
.x{fill:none;stroke-width:1.4}
`
