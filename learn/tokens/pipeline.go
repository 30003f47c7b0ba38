package tokens

import (
	"fmt"
	"strings"
	"unicode"
)

// A codec splits a text into ids, and joins ids to a text.
type codec interface {
	Encode(text string) (ids []uint, pieces []string, err error)
	Decode(ids []uint) (string, error)
}

// A model splits what is not split otherwise, such as a word.
type model interface {
	append(ids []uint, word string) []uint
}

// A pipeline is the tokenizer that a tokenizer.json describes. A nil function does nothing.
type pipeline struct {
	early, late []added // found in the text as it is, and in the normalized text
	normalize   func(string) string
	divide      func(words []string) ([]string, error)
	model       model
	vocabulary  *vocabulary
	join        func(pieces []string) string
}

func (p *pipeline) normalized(text string) string {
	if p.normalize == nil {
		return text
	}
	return p.normalize(text)
}

// Encode implements [codec].
func (p *pipeline) Encode(text string) (ids []uint, _ []string, err error) {
	err = eachPart(p.early, text, func(part string, token *added) error {
		if token != nil {
			ids = append(ids, token.ID)
			return nil
		}
		return eachPart(p.late, p.normalized(part), func(part string, token *added) error {
			if token != nil {
				ids = append(ids, token.ID)
				return nil
			}
			words := []string{part}
			if p.divide != nil {
				var err error
				if words, err = p.divide(words); err != nil {
					return err
				}
			}
			for _, w := range words {
				if w != "" {
					ids = p.model.append(ids, w)
				}
			}
			return nil
		})
	})
	return ids, nil, err
}

// eachPart calls f for the parts of a text: the tokens, and the nonempty texts between them. Of several tokens that
// begin at the same place, the longest is found.
func eachPart(tokens []added, text string, f func(part string, token *added) error) error {
	for text != "" {
		at, end := len(text), 0
		var token *added
		for i, t := range tokens {
			k := strings.Index(text, t.Content)
			if k >= 0 && (k < at || k == at && len(t.Content) > end-at) {
				at, end, token = k, k+len(t.Content), &tokens[i]
			}
		}
		before := text[:at]
		if token == nil {
			return f(before, nil)
		}
		if token.Left {
			before = strings.TrimRightFunc(before, unicode.IsSpace)
		}
		if text = text[end:]; token.Right {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if before != "" {
			if err := f(before, nil); err != nil {
				return err
			}
		}
		if err := f(token.Content, token); err != nil {
			return err
		}
	}
	return nil
}

// Decode implements [codec].
func (p *pipeline) Decode(ids []uint) (string, error) {
	var pieces []string
	for _, id := range ids {
		piece, ok := p.vocabulary.pieces[id]
		if !ok {
			return "", fmt.Errorf("there is no token %d", int(id))
		}
		pieces = append(pieces, piece)
	}
	return p.join(pieces), nil
}
