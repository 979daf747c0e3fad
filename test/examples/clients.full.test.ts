/** Every example of a client runs unchanged to its end and prints the expected output. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root, runToEnd } from './program.ts'

/** Each line that the program prints. */
const stories: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  'client-ask': [
    /^Librarian uses A2A 1\.0 over JSONRPC\. Number 1 of \d on the card\.$/,
    'Have a look! 1 file(s) came along.',
    'TASK_STATE_COMPLETED, 1 artifact',
    'TASK_NOT_FOUND: Task not found',
  ],
  'client-stream': [
    'Once ',
    'upon ',
    'a ',
    'time ',
    'there ',
    'was ',
    'a ',
    'cat ',
    'TASK_STATE_COMPLETED, over 2 connections',
  ],
  'client-chat': [
    'Me: Book a flight',
    'Agent: Where to?',
    'Me: Lisbon',
    'Agent: Lisbon! And when?',
    'Me: tomorrow',
    'Agent: Noted: tomorrow.',
    'Agent: Noted: A window seat.',
    '2 tasks in one context: true',
  ],
  'client-webhook': [
    'task-1 is now TASK_STATE_WORKING',
    '204',
    'task-1 has brought report.pdf',
    '204',
    '204',
    'task-1 is now TASK_STATE_COMPLETED',
    '204',
    '401',
  ],
  'client-auth': [
    'Hello, tokens|ali.',
    'Hello, tokens|ali.',
    'Hello, keys|baba.',
    'UNAUTHENTICATED: requires token (HTTP Bearer), or key (API key in the header X-API-Key)',
  ],
  'client-rxjs': ["[ '1 and 2', '3 and 4', '5 and 6' ]", 'TASK_STATE_CANCELED'],
  'client-versions': [
    ...versionStory('0.2', 'VERSION_NOT_SUPPORTED'),
    ...versionStory('0.3', 'VERSION_NOT_SUPPORTED'),
    ...versionStory('1.0', 'It supports 1.0'),
  ],
}

function versionStory(version: string, pinned: string): readonly string[] {
  return [`An agent of ${version}: JSONRPC ${version}`, 'Hello, you!', 'SUBMITTED, WORKING, COMPLETED', pinned]
}

describe('the examples of a client', () => {
  it('are all listed here', () => {
    assert.deepEqual(globSync('client-*', { cwd: join(root, 'examples') }).sort(), Object.keys(stories).sort())
  })

  for (const [story, lines] of Object.entries(stories)) {
    it(`${story} runs to its end`, async () => {
      const printed = await runToEnd(join(root, 'examples', story, 'main.ts'))
      assert.equal(printed.length, lines.length, printed.join('\n'))
      for (const [index, line] of lines.entries()) {
        if (typeof line === 'string') assert.equal(printed[index], line)
        else assert.match(printed[index] ?? '', line)
      }
    })
  }
})
