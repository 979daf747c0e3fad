/**
 * `npm run prose`: finds words that the documentation and the messages of Parley do not use, each with the word to write instead
 * (prose-words.json). It reads the prose of Markdown pages, without their code, and the texts of the packages: string literals and
 * what JSX displays.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vite'

export interface ProseWords {
  readonly avoid: readonly AvoidedPhrases[]
  /** By file: phrases that it may use, each with the reason. */
  readonly allow: Readonly<Record<string, Readonly<Record<string, string>>>>
}

interface AvoidedPhrases {
  readonly phrases: readonly string[]
  readonly write: string
  /** Whether code on a page counts too, such as commands. */
  readonly inCode?: boolean
}

export interface ProseFinding {
  readonly file: string
  readonly line: number
  readonly phrase: string
  readonly write: string
}

/** A piece of text in a file, and where it begins. */
interface TextPiece {
  readonly start: number
  readonly text: string
}

const root = join(import.meta.dirname, '..')
const pages = ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/**/*.md', 'site/index.md']
const sources = ['packages/*/src/**/*.{ts,tsx}']
const excluded = ['**/node_modules/**', '**/dist/**', '**/*.test.{ts,tsx}', '**/testing/fixtures/**', '**/generated/**']
/** Steps of the schema that databases have already applied: their text does not change. */
const appliedSql = 'packages/a2a/src/stores/postgres/sql/**'

export function readWords(): ProseWords {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'prose-words.json'), 'utf8')) as ProseWords
}

/** The files that the check reads. */
export function proseFiles(root: string): readonly string[] {
  return globSync([...pages, ...sources], { cwd: root, exclude: [...excluded, appliedSql] })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
}

export function checkProse(file: string, content: string, { avoid, allow }: ProseWords): readonly ProseFinding[] {
  // Most files have none, and need not be parsed.
  if (
    placesOf(
      avoid
        .flatMap(({ phrases }) => phrases)
        .map(patternOf)
        .join('|'),
      { start: 0, text: content },
    ).length === 0
  ) {
    return []
  }
  const isPage = file.endsWith('.md')
  const prose = isPage ? [{ start: 0, text: withoutCode(content) }] : textsOf(file, content)
  const allowed = Object.keys(allow[file] ?? {})
  return avoid
    .flatMap(({ phrases, write, inCode }) =>
      (isPage && inCode === true ? [{ start: 0, text: content }] : prose).flatMap((piece) =>
        phrases
          .filter((phrase) => !allowed.includes(phrase))
          .flatMap((phrase) =>
            placesOf(patternOf(phrase), piece).map((at) => ({ file, line: lineAt(content, at), phrase, write })),
          ),
      ),
    )
    .sort((one, other) => one.line - other.line)
}

/** Entries of `allow` that allow nothing: the text has changed since. */
export function unusedAllowances(words: ProseWords, read: (file: string) => string | undefined): readonly string[] {
  return Object.entries(words.allow).flatMap(([file, phrases]) => {
    const content = read(file)
    const found = content === undefined ? [] : checkProse(file, content, { ...words, allow: {} })
    return Object.keys(phrases)
      .filter((phrase) => !found.some((finding) => finding.phrase === phrase))
      .map((phrase) => `${file}: ${phrase}`)
  })
}

/** A phrase may break across lines. */
function patternOf(phrase: string): string {
  return phrase.replaceAll(/[^\w ]/g, String.raw`\$&`).replaceAll(' ', String.raw`\s+`)
}

function placesOf(pattern: string, { start, text }: TextPiece): readonly number[] {
  const wholeWords = new RegExp(String.raw`(?<![\w-])(?:${pattern})(?![\w-])`, 'gi')
  return [...text.matchAll(wholeWords)].map(({ index }) => start + index)
}

function lineAt(content: string, at: number): number {
  return content.slice(0, at).split('\n').length
}

/** The page with its code, comments and link targets blanked, so that positions stay. */
export function withoutCode(page: string): string {
  const blank = (match: string): string => match.replaceAll(/[^\n]/g, ' ')
  return page
    .replaceAll(/^( *)(`{3,}|~{3,})[\s\S]*?^\1\2/gm, blank)
    .replaceAll(/<!--[\s\S]*?-->/g, blank)
    .replaceAll(/(`+)(?!`)[^`]*(?:\n[^`\n]+)?\1/g, blank)
    .replaceAll(/\]\([^)\s]*\)/g, blank)
}

interface Node {
  readonly type: string
  readonly start: number
  readonly value?: unknown
  readonly [key: string]: unknown
}

/** The texts of a program. A literal of one word is a name, not a message, unless JSX displays it. */
export function textsOf(file: string, content: string): readonly TextPiece[] {
  const found: TextPiece[] = []
  const visit = (node: unknown, isDisplayed: boolean): void => {
    if (Array.isArray(node)) return node.forEach((one) => visit(one, isDisplayed))
    if (!isNode(node)) return
    if (/^(Import|ExportAll|ExportNamed)Declaration$/.test(node.type) && !isNode(node['declaration'])) return
    const text = textIn(node)
    if (text !== undefined && (isDisplayed || node.type === 'JSXText' || /\s/.test(text.trim()))) {
      found.push({ start: node.start, text })
    }
    const shows = node.type === 'JSXExpressionContainer' || node.type === 'JSXElement'
    for (const [key, child] of Object.entries(node)) if (key !== 'parent') visit(child, shows)
  }
  visit(parseAst(content, { lang: file.endsWith('.tsx') ? 'tsx' : 'ts' }), false)
  return found
}

function textIn({ type, value }: Node): string | undefined {
  if (type === 'TemplateElement') return (value as { readonly cooked?: string | null }).cooked ?? undefined
  return (type === 'Literal' || type === 'JSXText') && typeof value === 'string' ? value : undefined
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

if (import.meta.main) {
  const words = readWords()
  const findings = proseFiles(root).flatMap((file) => checkProse(file, readFileSync(join(root, file), 'utf8'), words))
  for (const { file, line, phrase, write } of findings) console.log(`${file}:${line}: "${phrase}": write ${write}`)
  console.log(`${findings.length} phrases to rewrite`)
  if (findings.length > 0) process.exitCode = 1
}
