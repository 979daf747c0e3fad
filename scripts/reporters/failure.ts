/** Which events of node's test runner are failures, and how they are printed: location and cause, without the frames of the runner. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

type Failed = Extract<TestEvent, { type: 'test:fail' }>['data']
type Passed = Extract<TestEvent, { type: 'test:pass' }>['data']

/** A group that failed because its tests did is not one more failure; a group that failed on its own is. */
export function isFailure(test: Failed): boolean {
  const { error } = test.details
  return !('failureType' in error) || error.failureType !== 'subtestsFailed'
}

const isFiltered = process.execArgv.some((word) => word.startsWith('--test-name-pattern'))

/** node reports a file without tests as one test that passed, under the name of the file. Not a failure if a pattern chose none. */
export function isEmptyFile(test: Passed): boolean {
  return test.nesting === 0 && test.name.endsWith('.test.ts') && test.file?.endsWith(test.name) === true
}

/** A file that ran in turn with others in one process is one test that holds those of the file (scripts/run-files-in-turn.ts). */
export function isFileInTurn(test: {
  readonly name: string
  readonly nesting: number
  readonly file?: string
}): boolean {
  return test.nesting === 0 && test.name.endsWith('.test.ts') && test.file?.endsWith('run-files-in-turn.ts') === true
}

/** Returns the text of each failure; needs every event, since the groups around a test are known only by their starts. */
export function createFailureFormatter(): (event: TestEvent) => string | undefined {
  const path: string[] = []
  return ({ type, data }) => {
    if (type === 'test:start') path.splice(data.nesting, path.length, data.name)
    if (type === 'test:fail' && isFailure(data)) return describeFailure(data, path.slice(0, data.nesting))
    if (type === 'test:pass' && isEmptyFile(data) && !isFiltered) return `✖ ${data.name} holds no test`
    return undefined
  }
}

function describeFailure(test: Failed, parents: readonly string[]): string {
  const title = [...parents, test.name].join(' > ')
  const place = test.file === undefined ? '' : `  (${relative(process.cwd(), test.file)}:${test.line ?? 1})`
  // node wraps what was thrown; the wrapper only repeats the message.
  const thrown: unknown = test.details.error.cause ?? test.details.error
  const text =
    typeof thrown === 'string' ? thrown : isErrorWithStack(thrown) ? thrown.stack : inspect(thrown, { depth: 6 })
  const ours = text.split('\n').filter((line) => !/^\s+at .*\bnode:/.test(line))
  return `✖ ${title}${place}\n    ${ours.join('\n    ')}`
}

/** The stack of a failed assertion already has the diff; `inspect` would add both sides in full. */
function isErrorWithStack(thrown: unknown): thrown is Error & { readonly stack: string } {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_ASSERTION' && thrown.stack !== undefined
}
