/**
 * The answer of a turn as an artifact that grows. It is told what the whole text is by now, and says what is new: a chunk
 * where the text has grown, the artifact anew where it has become another.
 */
import type { Report, Struct } from '@parley/a2a'

export interface Answer {
  /** What it is by now; nothing while it is to begin anew. */
  readonly text: () => string
  become(whole: string, metadata?: Struct): Report | undefined
  /** What comes next is another text, though it may begin like this one. */
  restart(): void
  close(metadata?: Struct): Report | undefined
}

/** `said`: what an earlier attempt has said of it already. */
export function createAnswer(artifactId: string, said?: string): Answer {
  let text = said ?? ''
  let isBegun = said !== undefined
  let isStale = false

  return {
    text: () => (isStale ? '' : text),
    become(whole, metadata) {
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

/** Texts of one answer, as the gateway joins them. */
export function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

/** The gateway trims what it keeps, so a blank at the end is no difference. */
export function isSameText(a: string, b: string): boolean {
  return a.trim() === b.trim()
}

export interface Items {
  /** The whole text after this event of the stream `assistant`. */
  read(data: Readonly<Record<string, unknown>>): { readonly whole: string; readonly isGuess: boolean }
  /** The whole text, given what the run came to: the gateway's final holds only the last item. */
  concluded(final: string): string
}

/**
 * The items that an answer is made of: after a tool was used the next one begins. Each event carries all of its item's
 * text, so that what was lost on the way does no harm; where one has only what is new, that is added in good faith.
 */
export function createItems(): Items {
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
    concluded(final) {
      const now = whole()
      if (final.trim() === '' || now.trim().endsWith(final.trim())) return now
      return joined([...items.slice(0, -1).map(({ text }) => text), final])
    },
  }

  function whole(): string {
    return joined(items.map(({ text }) => text))
  }
}
