/**
 * Links between the files of the repository, for the site. A link to a page becomes the address of the page, wherever the page
 * is on the site; a link to a source file becomes plain text, because the site has no such page. A page that does not exist stays
 * a link, so that VitePress reports it.
 */
import { relative } from 'node:path'
import type { Markdown, Token } from './markdown.ts'
import { siteLink } from './pages.ts'

export function sourceLinks(markdown: Markdown, root: string): void {
  markdown.core.ruler.push('source-links', ({ tokens, env }) => {
    const path = env.realPath ?? env.path
    if (path === undefined) return
    const file = relative(root, path).replaceAll('\\', '/')
    for (const token of tokens) if (token.children !== null) token.children = rewrite(token.children, file)
  })
}

function rewrite(tokens: readonly Token[], file: string): Token[] {
  const kept: Token[] = []
  let isDropping = false
  for (const token of tokens) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null
    if (href !== null && isRelative(href)) {
      const link = siteLink(file, href)
      isDropping = link === undefined
      if (link !== undefined) token.attrSet('href', link)
    }
    if (isDropping && token.type === 'link_open') continue
    if (isDropping && token.type === 'link_close') {
      isDropping = false
      continue
    }
    kept.push(token)
  }
  return kept
}

function isRelative(href: string): boolean {
  return !/^(?:[a-z][a-z+.-]*:|\/|#)/i.test(href)
}
