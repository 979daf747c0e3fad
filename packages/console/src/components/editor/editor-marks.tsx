/** What is drawn below the text of the editor: problems at their lines, and matches of a search. */
import { lineTop } from './editor-field.ts'
import { lineRange, positionAt } from './text-edits.ts'

export interface LineProblem {
  readonly line: number
  readonly message: string
}

export interface FindMatches {
  readonly offsets: readonly number[]
  readonly length: number
  /** Index of the current match. */
  readonly at: number
}

/** Limit on rendered marks. */
const maxMarks = 200

export function ProblemSigns({ problems }: { readonly problems: readonly LineProblem[] }) {
  return (
    <>
      {byLine(problems).map(([line]) => (
        <span key={line} class="editor-sign" style={{ top: lineTop(line) }}>
          ✕
        </span>
      ))}
    </>
  )
}

/** The line is marked, and its first problem follows its text. */
export function ProblemMarks({ text, problems }: { readonly text: string; readonly problems: readonly LineProblem[] }) {
  return (
    <>
      {byLine(problems).map(([line, messages]) => {
        const { from, to } = lineRange(text, line)
        return (
          <div key={line} class="editor-mark" style={{ top: lineTop(line) }}>
            <span class="editor-problem" style={{ left: `calc(${to - from + 3}ch + 12px)` }}>
              {messages.join(' · ')}
            </span>
          </div>
        )
      })}
    </>
  )
}

function byLine(problems: readonly LineProblem[]): readonly (readonly [line: number, messages: readonly string[]])[] {
  const found = new Map<number, string[]>()
  for (const { line, message } of problems) found.set(line, [...(found.get(line) ?? []), message])
  return [...found].slice(0, maxMarks)
}

export function FoundMarks({ text, found }: { readonly text: string; readonly found: FindMatches }) {
  const from = Math.max(0, found.at - maxMarks / 2)
  return (
    <>
      {found.offsets.slice(from, from + maxMarks).map((offset, index) => {
        const { line, column } = positionAt(text, offset)
        return (
          <div
            key={offset}
            class={from + index === found.at ? 'editor-found here' : 'editor-found'}
            style={{ top: lineTop(line), left: `${column - 1}ch`, width: `${found.length}ch` }}
          />
        )
      })}
    </>
  )
}
