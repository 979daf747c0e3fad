/**
 * Code blocks as the site shows them. The same files are plain blocks in a row on a repository host.
 *
 * - `ts [agent.ts]` or `sh [terminal 1]`: the file or terminal is a bar above the block.
 * - Blocks between `<!-- tabs -->` and `<!-- /tabs -->` are tabs, with the names in their brackets.
 * - A command that installs packages with npm gets tabs for npm, pnpm and bun.
 */
import type { Markdown, Token } from './markdown.ts'

/** Commands of npm, and the same for the other package managers. The first that matches applies. */
const commands: readonly (readonly [npm: RegExp, pnpm: string, bun: string])[] = [
  [/^npm init -y$/, 'pnpm init', 'bun init -y'],
  [/^npm pkg set /, 'pnpm pkg set ', 'bun pm pkg set '],
  [/^npm install$/, 'pnpm install', 'bun install'],
  // Archives that need each other are installed by npm only.
  [/^npm install (?!.*\.tgz\b)/, 'pnpm add ', 'bun add '],
  [/^npm create (\S+)( \S+)?(?: --)?/, 'pnpm create $1$2', 'bun create $1$2'],
]

/** The block for each package manager, or nothing if the block installs no packages or has a command without an equivalent. */
export function packageManagerTabs(script: string): readonly (readonly [name: string, script: string])[] {
  const lines = script.trimEnd().split('\n')
  if (!lines.some((line) => /^npm (?:install|create) /.test(line))) return []
  const inManager = (at: 1 | 2): readonly (string | undefined)[] =>
    lines.map((line) => {
      const command = commands.find(([npm]) => npm.test(line))
      if (command !== undefined) return line.replace(command[0], command[at])
      return /\bnp[mx]\b/.test(line) ? undefined : line
    })
  const [pnpm, bun] = [inManager(1), inManager(2)]
  if (pnpm.includes(undefined)) return []
  return [
    ['npm', lines],
    ['pnpm', pnpm],
    ['bun', bun],
  ].map(([name, own]) => [String(name), `${(own as readonly string[]).join('\n')}\n`])
}

export function codeBlocks(markdown: Markdown): void {
  markdown.core.ruler.push('code-blocks', (state) => {
    const token = (type: string, content = '', info = ''): Token => {
      const nesting = type.endsWith('_open') ? 1 : type.endsWith('_close') ? -1 : 0
      return Object.assign(new state.Token(type, type === 'fence' ? 'code' : '', nesting), { content, info })
    }
    // The names that VitePress gives its container.
    const openTabs = (): Token => token('container_code-group_open')
    const closeTabs = (): Token => token('container_code-group_close')
    let isInTabs = false
    state.tokens = state.tokens.flatMap((each): readonly Token[] => {
      const mark = each.type === 'html_block' ? each.content.trim() : ''
      if (mark === '<!-- tabs -->' || mark === '<!-- /tabs -->') {
        isInTabs = mark === '<!-- tabs -->'
        return [isInTabs ? openTabs() : closeTabs()]
      }
      if (each.type !== 'fence' || isInTabs) return [each]
      const [, title] = /\[(.+)\]/.exec(each.info) ?? []
      if (title !== undefined) {
        const bar = `<div class="titled-code"><div class="code-title">${markdown.utils.escapeHtml(title)}</div>\n`
        return [token('html_block', bar), each, token('html_block', '</div>\n')]
      }
      const tabs = each.info.trim() === 'sh' ? packageManagerTabs(each.content) : []
      if (tabs.length === 0) return [each]
      return [openTabs(), ...tabs.map(([name, script]) => token('fence', script, `sh [${name}]`)), closeTabs()]
    })
  })
}
