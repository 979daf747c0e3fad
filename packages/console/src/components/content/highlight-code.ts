/**
 * Shows highlighted code in an element: the first characters at once, the rest of a long text in slices, so that the page stays
 * responsive. The lexer is loaded when first needed; until then, the text is plain.
 */
import { signal } from '@preact/signals'
import { loadWithRetry } from '../../api/load-with-retry.ts'
import type { Token } from './highlight.ts'

type ReadTokens = (text: string, language: string) => Iterator<Token, void>

const readTokens = signal<ReadTokens | undefined>(undefined)
let isRequested = false

/** Returns whether the lexer is loaded. Components that read it are rendered again once it is. */
export function loadHighlighter(): boolean {
  if (!isRequested) {
    isRequested = true
    void loadWithRetry(() => import('./highlight.ts')).then((loaded) => (readTokens.value = loaded.readTokens))
  }
  return readTokens.value !== undefined
}

const sliceLength = 16_000
/** Longer text stays plain. */
const maxLength = 400_000
/** A text that still grows is replaced before its second slice. */
const secondSliceMs = 200

/** Returns a function that stops it. */
export function showCode(element: HTMLElement, text: string, language: string | undefined): () => void {
  const rest = element.ownerDocument.createTextNode(text)
  element.replaceChildren(rest)
  const read = readTokens.peek()
  if (language === undefined || read === undefined || text.length > maxLength) return () => {}
  const tokens = read(text, language)
  let shown = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const showSlice = (): void => {
    const slice = element.ownerDocument.createDocumentFragment()
    const end = shown + sliceLength
    let next = tokens.next()
    while (next.done !== true) {
      slice.append(toNode(next.value, element.ownerDocument))
      shown += next.value.text.length
      if (shown >= end) break
      next = tokens.next()
    }
    rest.before(slice)
    rest.data = text.slice(shown)
    if (shown < text.length) timer = setTimeout(showSlice, shown < sliceLength * 2 ? secondSliceMs : 0)
  }
  showSlice()
  return () => clearTimeout(timer)
}

function toNode({ kind, text }: Token, document: Document): Node {
  if (kind === 'plain') return document.createTextNode(text)
  const span = document.createElement('span')
  span.className = `code-${kind}`
  span.textContent = text
  return span
}
