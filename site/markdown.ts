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
  tokens: Token[]
  readonly env: { readonly realPath?: string; readonly path?: string }
  readonly Token: new (type: string, tag: string, nesting: 0 | 1 | -1) => Token
}

export interface Markdown {
  readonly core: { readonly ruler: { push(name: string, rule: (state: MarkdownState) => void): void } }
  readonly utils: { escapeHtml(text: string): string }
}
