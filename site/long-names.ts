/** Lets long names in the cells of tables wrap at their words, so that a table is not wider than the page. */
import type { Markdown } from './markdown.ts'

/** Shorter names stay on one line. */
const longest = 12

export function longNames(markdown: Markdown): void {
  markdown.core.ruler.push('long-names', ({ tokens, Token }) => {
    let isInTable = false
    for (const token of tokens) {
      if (token.type === 'table_open' || token.type === 'table_close') isInTable = token.type === 'table_open'
      if (!isInTable || token.children === null) continue
      token.children = token.children.map((child) => {
        if (child.type !== 'code_inline' || child.content.length <= longest) return child
        const name = markdown.utils.escapeHtml(child.content).replaceAll(/[_./](?=\w)|[a-z](?=[A-Z])/g, '$&<wbr>')
        return Object.assign(new Token('html_inline', '', 0), { content: `<code v-pre>${name}</code>` })
      })
    }
  })
}
