/** Renders Markdown to sanitised elements. */
import DOMPurify from 'dompurify'
import { Marked } from 'marked'

/** HTML tags within Markdown that are allowed, without attributes. Other HTML is shown as text. */
const plainTag = /^<\/?(br|hr|p|ul|ol|li|em|strong|del|sup|sub|code|blockquote)\s*\/?>$/i

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** The language after the fence. Only code blocks get it, since HTML with attributes is shown as text. */
const languageAttribute = 'data-language'

const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    html({ text, block }) {
      if (plainTag.test(text.trim())) return text
      return block ? `<p>${escapeHtml(text)}</p>` : escapeHtml(text)
    },
    code({ text, lang = '' }) {
      return `<pre><code ${languageAttribute}="${escapeHtml(lang)}">${escapeHtml(text)}</code></pre>\n`
    },
  },
})

/**
 * Blocks and cells each take the direction of their own text, because an answer may hold several languages. Code keeps its order.
 * A paragraph of an item or a quote gets none, since `auto` ignores descendants that have their own `dir`.
 */
function hasOwnDirection({ tagName, parentElement }: Element): boolean {
  if (tagName === 'P') return !/^(LI|BLOCKQUOTE)$/.test(parentElement?.tagName ?? '')
  return /^(H[1-6]|LI|BLOCKQUOTE|TH|TD)$/.test(tagName)
}

/** The first letter decides, as it does for `auto`. */
const rightToLeft = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** The first item or heading decides the side of bullets and columns, because `auto` ignores items that have their own `dir`. */
function setListDirection(first: Element): void {
  if (!/^(LI|TH)$/.test(first.tagName) || first.previousElementSibling !== null) return
  if (rightToLeft.test(first.textContent ?? '')) first.closest(':is(ul, ol, table)')?.setAttribute('dir', 'rtl')
}

const linkRelation = ['noopener', 'noreferrer', 'nofollow'].join(' ')

const purify = DOMPurify()
purify.addHook('afterSanitizeAttributes', (node) => {
  if (!(node instanceof Element)) return
  if (hasOwnDirection(node)) node.setAttribute('dir', 'auto')
  setListDirection(node)
  if (!/^(left|center|right)$/.test(node.getAttribute('align') ?? 'left')) node.removeAttribute('align')
  if (node.tagName === 'INPUT') {
    // A checkbox of a task list; no other input is allowed.
    if (node.getAttribute('type') !== 'checkbox') return node.remove()
    node.setAttribute('disabled', '')
    node.setAttribute('aria-label', node.hasAttribute('checked') ? 'Done' : 'Not done')
  }
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', linkRelation)
  }
  if (node.tagName === 'IMG' && !node.hasAttribute('src')) return node.replaceWith(node.getAttribute('alt') ?? '')
  if (node.tagName === 'IMG' && !/^(data:image\/(png|jpeg|gif|webp);|blob:)/.test(node.getAttribute('src') ?? '')) {
    const link = document.createElement('a')
    link.textContent = node.getAttribute('alt') || 'image'
    link.href = node.getAttribute('src') ?? ''
    link.target = '_blank'
    link.rel = linkRelation
    node.replaceWith(link)
  }
})

const allowed = {
  ALLOWED_TAGS:
    'p|br|hr|h1|h2|h3|h4|h5|h6|ul|ol|li|blockquote|pre|code|em|strong|del|a|img|table|thead|tbody|tr|th|td|input|sup|sub'.split(
      '|',
    ),
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'align', 'start', 'type', 'checked', 'disabled', languageAttribute],
  ALLOWED_URI_REGEXP: /^(https?:|mailto:|data:image\/(png|jpeg|gif|webp);|blob:|#)/i,
  // These are not URLs: without this, DOMPurify checks their values against the pattern above and drops them.
  ADD_URI_SAFE_ATTR: ['align', 'start', 'type', languageAttribute],
  ALLOW_DATA_ATTR: false,
}

export interface MarkdownCodeBlock {
  /** Where it belongs in the content. */
  readonly place: Element
  readonly code: string
  /** As the author wrote it after the fence; may be empty. */
  readonly language: string
}

export interface RenderedMarkdown {
  readonly content: DocumentFragment
  readonly codeBlocks: readonly MarkdownCodeBlock[]
}

export function renderMarkdown(text: string): RenderedMarkdown {
  const html = marked.parse(text) as string
  const content = purify.sanitize(html, { ...allowed, RETURN_DOM_FRAGMENT: true })
  for (const table of content.querySelectorAll('table')) {
    alignNumbers(table)
    wrapTable(table)
  }
  return { content, codeBlocks: [...content.querySelectorAll('pre')].map(takeCodeBlock) }
}

function takeCodeBlock(block: Element): MarkdownCodeBlock {
  const place = document.createElement('div')
  block.replaceWith(place)
  const language = block.firstElementChild?.getAttribute(languageAttribute) ?? ''
  return { place, code: block.textContent, language }
}

/** A wide table scrolls by itself, also with the keyboard. */
function wrapTable(table: Element): void {
  const frame = document.createElement('div')
  frame.className = 'markdown-table'
  frame.tabIndex = 0
  frame.setAttribute('role', 'group')
  frame.setAttribute('aria-label', 'Table')
  table.replaceWith(frame)
  frame.append(table)
}

const numeric = /^[-+−]?[$€£]?\d[\d.,\s]{0,20}\s?[%\p{L}]{0,3}$/u

/** Columns of numbers without an alignment of their own are aligned right, so that their digits stand below each other. */
function alignNumbers(table: HTMLTableElement): void {
  const [head, ...rows] = table.rows
  for (const [column, title] of [...(head?.cells ?? [])].entries()) {
    const cells = rows.map((row) => row.cells[column])
    const texts = cells.map((cell) => cell?.textContent.trim() ?? '').filter((text) => text !== '')
    if (title.hasAttribute('align') || texts.length === 0 || !texts.every((text) => numeric.test(text))) continue
    for (const cell of [title, ...cells]) cell?.setAttribute('align', 'right')
  }
}
