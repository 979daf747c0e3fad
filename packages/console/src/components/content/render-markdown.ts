/** Renders Markdown to sanitised HTML. */
import DOMPurify from 'dompurify'
import { Marked } from 'marked'

/** HTML tags within Markdown that are allowed, without attributes. Other HTML is shown as text. */
const plainTag = /^<\/?(br|hr|p|ul|ol|li|em|strong|del|sup|sub|code|blockquote)\s*\/?>$/i

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    html({ text, block }) {
      if (plainTag.test(text.trim())) return text
      return block ? `<p>${escapeHtml(text)}</p>` : escapeHtml(text)
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
  if (rightToLeft.test(first.textContent ?? '')) first.closest('ul, ol, table')?.setAttribute('dir', 'rtl')
}

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
    node.setAttribute('rel', 'noopener noreferrer nofollow')
  }
  if (node.tagName === 'IMG' && !node.hasAttribute('src')) return node.replaceWith(node.getAttribute('alt') ?? '')
  if (node.tagName === 'IMG' && !/^(data:image\/(png|jpeg|gif|webp);|blob:)/.test(node.getAttribute('src') ?? '')) {
    const link = document.createElement('a')
    link.textContent = node.getAttribute('alt') || 'image'
    link.href = node.getAttribute('src') ?? ''
    link.target = '_blank'
    link.rel = 'noopener noreferrer nofollow'
    node.replaceWith(link)
  }
})

const allowed = {
  ALLOWED_TAGS:
    'p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del a img table thead tbody tr th td input sup sub'.split(
      ' ',
    ),
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'align', 'start', 'type', 'checked', 'disabled'],
  ALLOWED_URI_REGEXP: /^(https?:|mailto:|data:image\/(png|jpeg|gif|webp);|blob:|#)/i,
  // These are not URLs: without this, DOMPurify checks their values against the pattern above and drops them.
  ADD_URI_SAFE_ATTR: ['align', 'start', 'type'],
  ALLOW_DATA_ATTR: false,
}

export function renderMarkdown(text: string): string {
  const html = marked.parse(text) as string
  return purify.sanitize(html, { ...allowed, RETURN_TRUSTED_TYPE: true }) as unknown as string
}
