/** What a person sees of a suite while it runs: each failure in full, whatever tests print, and nothing else. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import { isEmptyFile, isFailure } from './tally.ts'

/** `--test-reporter` takes the default export of a module. */
export default async function* failures(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const path: string[] = []
  for await (const event of events) {
    switch (event.type) {
      case 'test:start':
        path.length = event.data.nesting
        path.push(event.data.name)
        break
      case 'test:fail':
        if (isFailure(event.data)) yield describeFailure(event.data, path.slice(0, event.data.nesting))
        break
      case 'test:pass':
        if (isEmptyFile(event.data)) yield `\n✖ ${event.data.name} holds no test\n`
        break
      case 'test:stdout':
      case 'test:stderr':
        yield event.data.message
        break
      default:
    }
  }
}

function describeFailure(test: Extract<TestEvent, { type: 'test:fail' }>['data'], parents: readonly string[]): string {
  const title = [...parents, test.name].join(' > ')
  const place = test.file === undefined ? '' : `  (${relative(process.cwd(), test.file)}:${test.line ?? 1})`
  // node wraps what was thrown; the wrapper only repeats the message.
  const thrown: unknown = test.details.error.cause ?? test.details.error
  const text = typeof thrown === 'string' ? thrown : asserted(thrown) ? thrown.stack : inspect(thrown, { depth: 6 })
  const ours = text.split('\n').filter((line) => !/^\s+at .*\bnode:/.test(line))
  return `\n✖ ${title}${place}\n    ${ours.join('\n    ')}\n`
}

/** The stack of a failed assertion has the difference already; `inspect` would add both sides in full. */
function asserted(thrown: unknown): thrown is Error & { readonly stack: string } {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_ASSERTION' && thrown.stack !== undefined
}
