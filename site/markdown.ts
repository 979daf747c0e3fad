import { relative } from 'node:path'

/** The part of markdown-it that the site's own rules use. */
export interface Token {
  readonly type: string
  readonly content: string
  readonly info: string
  children: Token[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}

interface MarkdownState {
  /** The text of the page, until the rule `normalize` has read it. */
  src: string
  tokens: Token[]
  readonly env: { readonly realPath?: string; readonly path?: string }
  readonly Token: new (type: string, tag: string, nesting: 0 | 1 | -1) => Token
}

type Rule = (state: MarkdownState) => void

export interface Markdown {
  readonly core: {
    readonly ruler: { push(name: string, rule: Rule): void; before(first: string, name: string, rule: Rule): void }
  }
  readonly utils: { escapeHtml(text: string): string }
}

/** The file that a page is made of, from the root of the repository. */
export function sourceFile({ realPath, path }: MarkdownState['env'], root: string): string | undefined {
  const source = realPath ?? path
  return source === undefined ? undefined : relative(root, source).replaceAll('\\', '/')
}
