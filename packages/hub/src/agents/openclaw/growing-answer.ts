/**
 * The answer of a turn as a growing artifact. `update` takes the whole text so far and returns what is new: a chunk if the
 * text has grown, a new artifact if it has changed.
 */
import type { Report, Struct } from '@parley/a2a'

export interface GrowingAnswer {
  /** The current text; empty after `restart`. */
  readonly text: () => string
  update(whole: string, metadata?: Struct): Report | undefined
  /** The next text replaces this one, even if it starts the same. */
  restart(): void
  close(metadata?: Struct): Report | undefined
}

/** `said`: the text that an earlier attempt has already reported. */
export function createGrowingAnswer(artifactId: string, said?: string): GrowingAnswer {
  let text = said ?? ''
  let isBegun = said !== undefined
  let isStale = false

  return {
    text: () => (isStale ? '' : text),
    update(whole, metadata) {
      if (isBegun && !isStale && whole === text && metadata === undefined) return undefined
      if (!isBegun && whole === '') return undefined
      const append = isBegun && !isStale && whole.startsWith(text)
      const report = chunk(append ? whole.slice(text.length) : whole, append, metadata)
      text = whole
      isBegun = true
      isStale = false
      return report
    },
    restart() {
      isStale = isBegun
    },
    close(metadata) {
      if (!isBegun) return undefined
      return { ...chunk('', true, metadata), lastChunk: true }
    },
  }

  function chunk(piece: string, append: boolean, metadata: Struct | undefined): Report & object {
    return {
      artifact: { artifactId, parts: [{ text: piece }] },
      ...(append ? { append } : {}),
      ...(metadata !== undefined ? { metadata } : {}),
    }
  }
}

/** Joins texts of one answer as the gateway does. */
export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

/** The gateway trims what it stores, so trailing whitespace is ignored. */
export function isSameText(a: string, b: string): boolean {
  return a.trim() === b.trim()
}

export interface AnswerItems {
  /** The whole text after this event of the `assistant` stream. */
  read(data: Readonly<Record<string, unknown>>): { readonly whole: string; readonly isGuess: boolean }
  /** The whole text after the end of the run: the gateway's final text holds only the last item. */
  finalText(final: string): string
}

/**
 * The items of an answer: a new one begins after each tool call. Each event carries the whole text of its item, so that
 * lost events do no harm. If an event has only the new text, it is appended.
 */
export function createAnswerItems(): AnswerItems {
  const items: { readonly id: string; text: string }[] = []

  return {
    read({ itemId, text, delta, replace }) {
      const id = typeof itemId === 'string' ? itemId : (items.at(-1)?.id ?? '')
      let item = items.find((one) => one.id === id)
      if (item === undefined) items.push((item = { id, text: '' }))
      const isGuess = typeof text !== 'string'
      if (typeof text === 'string') item.text = text
      else if (typeof delta === 'string') item.text = replace === true ? delta : item.text + delta
      return { whole: whole(), isGuess }
    },
    finalText(final) {
      const now = whole()
      if (final.trim() === '' || now.trim().endsWith(final.trim())) return now
      return joinTexts([...items.slice(0, -1).map(({ text }) => text), final])
    },
  }

  function whole(): string {
    return joinTexts(items.map(({ text }) => text))
  }
}
