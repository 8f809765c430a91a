package export

import (
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/send/script"
	"assay/internal/study"
)

// ConversationBlock is how many conversations are held while their verdicts are read.
const ConversationBlock = 32

// HasConversations reports whether a stage has conversations.
func HasConversations(st *study.Stage) bool {
	v := st.Verb()
	return v == study.VerbAsk || v == study.VerbContinue || v == study.VerbImport
}

// Question returns what a conversation is about: the text of its item, else what the model was sent.
func Question(talk *script.Conversation, e *script.Exchange) string {
	if text := talk.Item.Fields["text"]; text != nil {
		return fmt.Sprint(text)
	}
	return e.Message
}

// KeysOf returns the keys of all answers of some conversations.
func KeysOf(talks []script.Conversation) []assay.Key {
	var keys []assay.Key
	for _, talk := range talks {
		for _, e := range talk.Exchanges {
			keys = append(keys, e.At.Key())
		}
	}
	return keys
}

// InBlocks hands on what is walked over, so many at a time. A block is used again for the next one.
func InBlocks[T any](all iter.Seq2[T, error], size int, take func([]T) error) error {
	block := make([]T, 0, size)
	for one, err := range all {
		if err != nil {
			return err
		}
		if block = append(block, one); len(block) < size {
			continue
		}
		if err := take(block); err != nil {
			return err
		}
		block = block[:0]
	}
	return take(block)
}
