/** The words of the console are in one `strings.ts` per page, so that they can be read as a whole: sources have none of their own. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseSync } from 'vite'

const root = join(import.meta.dirname, '../packages/console/src')

interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

/** Attributes that users read. */
const textAttributes = /^(title|label|aria-label|placeholder|alt|text|what|word|hint|question|confirm|description)$/
/** Attributes for the browser. */
const codeAttributes =
  /^(class|d|points|viewBox|transform|style|href|src|type|id|for|rel|accept|allow|sandbox|role|data-.*)$/
/** Literals of code, commands and keys. */
const codeElements = /^(code|kbd|pre|style)$/
/** Keys of the keyboard and HTTP headers. */
const codeWords =
  /^(Enter|Escape|Home|End|Tab|Delete|Backspace|Space|Control|Meta|Shift|Alt|Accept|Authorization|Bearer|Basic)$/
/** At least two words, the first with a capital or followed by a lower-case word: a sentence or a label, and no identifier. */
const isProse = (text: string): boolean =>
  /^\s*[A-Z]?[a-z’']+[,.:]? +[a-z’']{2,}/.test(text) || (/^[A-Z][a-z]+$/.test(text) && !codeWords.test(text))

/** The texts that users see in this source, each with its offset. */
function visibleTexts(file: string, source: string): readonly { readonly text: string; readonly at: number }[] {
  const found: { text: string; at: number }[] = []
  const add = (text: unknown, at: number): void => {
    if (typeof text === 'string' && /[A-Za-z]{2}/.test(text)) found.push({ text: text.trim(), at })
  }

  function visit(value: unknown): void {
    if (Array.isArray(value)) value.forEach(visit)
    else if (isSyntaxNode(value)) visitNode(value)
  }

  function visitNode(node: SyntaxNode): void {
    switch (node.type) {
      case 'JSXText':
        return add(node['value'], node.start)
      case 'JSXElement': {
        const name = nameOf(node['openingElement'])
        visit(node['openingElement'])
        return codeElements.test(name) ? undefined : visit(node['children'])
      }
      case 'JSXAttribute': {
        const name = nameOf(node)
        if (codeAttributes.test(name)) return
        const literal = isSyntaxNode(node['value']) && node['value'].type === 'Literal' ? node['value'] : undefined
        if (literal === undefined) return visit(node['value'])
        return textAttributes.test(name) ? add(literal['value'], node.start) : undefined
      }
      case 'ImportDeclaration':
      case 'ImportExpression':
      case 'ExportNamedDeclaration':
        return node['source'] === null ? visit(Object.values(node)) : undefined
      case 'NewExpression':
        // Errors of programming, which the console reports by its own words.
        return nameOf(node, 'callee').endsWith('Error') ? undefined : visit(Object.values(node))
      case 'Literal':
        return typeof node['value'] === 'string' && isProse(node['value']) ? add(node['value'], node.start) : undefined
      case 'TemplateElement': {
        const text = (node['value'] as { readonly cooked?: string }).cooked ?? ''
        return isProse(text) && /[a-z] [a-z]/.test(text) ? add(text, node.start) : undefined
      }
      default:
        return node.type.startsWith('TS') && !node.type.includes('Expression') ? undefined : visit(Object.values(node))
    }
  }

  visit(parseSync(file, source).program.body)
  return found
}

function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function nameOf(node: unknown, key = 'name'): string {
  if (!isSyntaxNode(node)) return ''
  const name = node[key]
  return typeof name === 'string' ? name : isSyntaxNode(name) ? nameOf(name) : ''
}

/** One line per text outside `strings.ts`. */
function strayTexts(files: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(files).flatMap(([file, source]) =>
    visibleTexts(file, source).map(
      ({ text, at }) => `${file}:${source.slice(0, at).split('\n').length} ${JSON.stringify(text)}`,
    ),
  )
}

describe('the words of the console', () => {
  it('are in strings.ts', () => {
    const names = globSync('**/*.{ts,tsx}', { cwd: root }).filter(
      (name) => !/(\.test\.ts|\.d\.ts|strings\.ts|api\/admin\.ts)$|testing\//.test(name),
    )
    const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(root, name), 'utf8')]))
    assert.deepEqual(strayTexts(files), [])
  })

  it('are found in markup, attributes and expressions, and not in code', () => {
    const source = [
      'export const a = <p class="row small" title="Copy it">Some words <code>npm ci</code></p>',
      "const b = isBad ? 'Try again later' : 'row-bad'",
      'const c = `${count} tasks were found`, d = <B text={`Delete ${name} now`} />',
      "throw new TypeError('Not a thing that users read')",
    ].join('\n')
    assert.deepEqual(strayTexts({ 'x.tsx': source }), [
      'x.tsx:1 "Copy it"',
      'x.tsx:1 "Some words"',
      'x.tsx:2 "Try again later"',
      'x.tsx:3 "tasks were found"',
    ])
  })
})
