/**
 * Links between the files of the repository, for the site. A link to a page becomes the address of the page, wherever the page
 * is on the site. A link to a file of deploy/ downloads a copy of it, and a link to a folder an archive. A link to another source file
 * becomes plain text, because the site has no such page. A page that does not exist stays a link, so that VitePress reports it.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { sourceFile, type Markdown, type Token } from './markdown.ts'
import { linkTarget, siteLink } from './pages.ts'

/** Adds to `downloads` the files and folders that pages link for download. */
export function sourceLinks(markdown: Markdown, root: string, downloads: Set<string>): void {
  markdown.core.ruler.push('source-links', ({ tokens, env, Token }) => {
    const file = sourceFile(env, root)
    if (file === undefined) return
    const download = (target: string): Token => {
      downloads.add(target)
      // HTML, because VitePress takes an address with an extension that it does not know for a page.
      const content = `<a href="/files/${downloadName(root, target)}" download>`
      return Object.assign(new Token('html_inline', '', 0), { content })
    }
    for (const token of tokens) if (token.children !== null) token.children = rewrite(token.children, file, download)
  })
}

function rewrite(tokens: readonly Token[], file: string, download: (target: string) => Token): Token[] {
  const kept: Token[] = []
  let isDropping = false
  for (const token of tokens) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null
    if (href !== null && isRelative(href)) {
      const target = linkTarget(file, href)
      if (target.startsWith('deploy/')) {
        kept.push(download(target))
        continue
      }
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

function downloadName(root: string, target: string): string {
  return statSync(join(root, target)).isDirectory() ? `${target}.tgz` : target
}

/** Copies what pages link for download into the built site. */
export function copyDownloads(root: string, downloads: Iterable<string>, outDir: string): void {
  for (const target of downloads) {
    const [source, copy] = [join(root, target), join(outDir, 'files', downloadName(root, target))]
    mkdirSync(dirname(copy), { recursive: true })
    if (copy.endsWith('.tgz')) execFileSync('tar', ['-czf', copy, '-C', dirname(source), basename(source)])
    else cpSync(source, copy)
  }
}
