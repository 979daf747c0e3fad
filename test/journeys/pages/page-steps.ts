/**
 * What a reader of a page does, in order: the files to write, the commands to type, and the output to expect.
 *
 * - A fenced block with a file name in brackets (`ts [agent.ts]`) is a file.
 * - `sh` is a command that ends; `sh [terminal 1]` one that keeps running until the same terminal gets another one.
 * - A `text` or `json` block right after a command is its output; `text [terminal 1]` is what that terminal shows by then.
 * - All other blocks are illustrations, which a test of the page must check by itself.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../../..')

/** `page` is relative to the repository: `docs/tutorials/first-agent.md`. */
export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8')

export type PageStep =
  | { readonly kind: 'file'; readonly name: string; readonly content: string }
  | {
      readonly kind: 'command'
      readonly script: string
      readonly terminal?: string
      readonly output?: ExpectedOutput
    }
  | { readonly kind: 'shown'; readonly terminal: string; readonly output: ExpectedOutput }

export interface ExpectedOutput {
  readonly format: 'text' | 'json'
  readonly content: string
}

export interface FencedBlock {
  readonly language: string
  readonly title?: string
  readonly content: string
}

export function fencedBlocks(page: string): readonly FencedBlock[] {
  return [...page.matchAll(/^( *)```(\w+)(?: \[([^\]]+)\])?\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', title, content = '']) => ({
      language,
      ...(title === undefined ? {} : { title }),
      content: content.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}

export function pageSteps(page: string): readonly PageStep[] {
  const blocks = fencedBlocks(page)
  return blocks.flatMap(({ language, title, content }, at): readonly PageStep[] => {
    if (language === 'text' && title !== undefined) {
      return [{ kind: 'shown', terminal: title, output: { format: 'text', content } }]
    }
    if (language !== 'sh') return title === undefined ? [] : [{ kind: 'file', name: title, content }]
    const next = blocks[at + 1]
    const format = next?.title === undefined ? next?.language : undefined
    const hasOutput = format === 'text' || format === 'json'
    return [
      {
        kind: 'command',
        script: content,
        ...(title === undefined ? {} : { terminal: title }),
        ...(hasOutput ? { output: { format, content: next?.content ?? '' } } : {}),
      },
    ]
  })
}
