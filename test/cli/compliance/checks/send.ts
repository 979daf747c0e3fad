/** Checks of `send`: waiting, streaming, parts and artifacts. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checks, JsonError, JsonPart, JsonTask } from '../workbench.ts'

interface Echo {
  readonly parts: readonly JsonPart[]
  readonly metadata: unknown
}
const echoOf = (task: JsonTask): Echo => task.artifacts?.[0]?.parts[0]?.data as Echo

export const sendChecks: Checks = {
  async A2ACLI_SEND_001({ a2a, agent }) {
    const { url, sent } = await agent()
    const run = await a2a(['send', '-a', url, 'complete the order'], { shows: 'sends a message and shows the task' })
    assert.equal(run.values('State').at(-1), 'TASK_STATE_COMPLETED')
    assert.ok(run.values('Text').some((text) => text.includes('Done: the order')))
    const [call] = [...sent('SendStreamingMessage'), ...sent('SendMessage')]
    const message = call?.params['message'] as { role: string; messageId: string; parts: JsonPart[] }
    assert.equal(message.role, 'ROLE_USER')
    assert.ok(message.messageId.length > 0)
    const nothing = await a2a(['send', '-a', url, '-o', 'json'], { exit: 2, shows: 'refuses a message without parts' })
    assert.equal(nothing.json<JsonError>().error.code, 'A2ACLI_ERR_USAGE')
  },

  async A2ACLI_SEND_002(bench) {
    const { a2a, agent } = bench
    const { url, gates } = await agent()
    const waiting = await bench.start(['send', '-a', url, '-o', 'json', 'hold send-002'])
    await waiting.waitFor('stderr', /[0-9a-f-]{36}/)
    gates.open('send-002')
    const run = await bench.finish(waiting, { shows: 'waits until a task that works for a while is COMPLETED' })
    assert.equal(run.json<{ task: JsonTask }>().task.status.state, 'TASK_STATE_COMPLETED')
    for (const flag of ['--async', '--return-immediately', '--no-wait']) {
      const early = await a2a(['send', '-a', url, '-o', 'json', flag, 'hold never'], {
        shows: 'returns task and context while the task works',
      })
      const { task } = early.json<{ task: JsonTask }>()
      assert.ok(task.id.length > 0 && task.contextId.length > 0)
      assert.ok(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'].includes(task.status.state))
    }
  },

  async A2ACLI_SEND_003({ a2a, agent }) {
    const streams = await agent()
    const events = await a2a(['send', '-a', streams.url, '-o', 'json', '--stream', 'chunks'], {
      shows: 'prints one StreamResponse per event',
    })
    assert.ok(streams.sent('SendStreamingMessage').length === 1)
    assert.ok(events.lines().length >= 5)
    const message = await a2a(['send', '-a', streams.url, '-o', 'json', '--stream', 'message'], {
      shows: 'prints the one line of a Message and ends with 0',
    })
    assert.deepEqual(
      message.lines().map((line) => Object.keys(line)),
      [['message']],
    )
    const silent = await agent({ settings: { streaming: false } })
    const polled = await a2a(['send', '-a', silent.url, '-o', 'json', '--stream', 'complete'], {
      shows: 'falls back to polling where the card offers no streams, still as lines',
    })
    assert.equal(silent.sent('SendStreamingMessage').length, 0)
    assert.match(polled.stdout, /TASK_STATE_COMPLETED/)
    polled.lines()
  },

  async A2ACLI_SEND_004({ a2a, agent }) {
    const { url } = await agent()
    const run = await a2a(['send', '-a', url, 'parts'], {
      shows:
        'prints text as text, data as formatted JSON, and files with name, type and size; an empty part is not dropped',
    })
    const text = run.values('Text')
    assert.ok(text.includes('First line\nsecond line'))
    assert.ok(text.length >= 2, 'the empty text part is shown too')
    assert.deepEqual(JSON.parse(run.values('Data')[0] ?? ''), { city: 'Oslo', degrees: [3, 4.5, null] })
    const files = run.values('File').join('\n')
    assert.match(files, /chart\.png.*image\/png.*10 B/)
    assert.match(files, /terms\.pdf.*application\/pdf.*https:\/\/files\.example\.com\/terms\.pdf/)
    assert.equal(run.values('Artifact').length, 2)
    const json = await a2a(['send', '-a', url, '-o', 'json', 'parts'], {
      shows: 'prints every part as the protocol has it',
    })
    const parts = json.json<{ task: JsonTask }>().task.artifacts?.flatMap((artifact) => artifact.parts) ?? []
    assert.equal(parts.length, 5)
    assert.deepEqual(parts[1], { text: '' })
    assert.ok(parts.every((part) => !('kind' in part)))
  },

  async A2ACLI_SEND_005({ a2a, agent, folder }) {
    const { url } = await agent()
    await writeFile(join(folder, 'report.bin'), 'bytes')
    await writeFile(join(folder, 'page.html'), '<p>')
    const run = await a2a(
      [
        'send',
        '-a',
        url,
        '-o',
        'json',
        '--text',
        'echo',
        '--file',
        'report.bin',
        '--media-type',
        'application/pdf',
        '--file',
        'page.html',
      ],
      { shows: 'sets the given type on the part before it, and infers the other' },
    )
    const { parts } = echoOf(run.json<{ task: JsonTask }>().task)
    assert.deepEqual(
      parts.map(({ mediaType }) => mediaType ?? ''),
      ['', 'application/pdf', 'text/html'],
    )
    const alone = await a2a(['send', '-a', url, '-o', 'json', '--media-type', 'text/plain', '--text', 'echo'], {
      exit: 2,
      shows: 'refuses a type without a part before it',
    })
    assert.equal(alone.json<JsonError>().error.code, 'A2ACLI_ERR_USAGE')
  },

  async A2ACLI_SEND_006({ a2a, agent, folder }) {
    const { url, server } = await agent()
    await writeFile(join(folder, 'note.txt'), 'a note')
    await writeFile(join(folder, 'a.json'), '{"a":1}')
    const run = await a2a(
      [
        ...[
          'send',
          '-a',
          url,
          '-o',
          'json',
          '--text',
          'echo',
          '--data',
          'a.json',
          '--file',
          'note.txt',
          '--text',
          'between',
        ],
        ...['--file', 'https://files.example.com/x.pdf', '--data', '-', '--metadata', '{"k":[1]}'],
      ],
      {
        stdin: '["from stdin"]',
        shows: 'sends six parts of three kinds in the order of the command line, one of them from stdin',
      },
    )
    const { parts } = echoOf(run.json<{ task: JsonTask }>().task)
    assert.deepEqual(
      parts.map((part) => part.text ?? part.data ?? part.url ?? Buffer.from(part.raw ?? '', 'base64').toString()),
      ['echo', { a: 1 }, 'a note', 'between', 'https://files.example.com/x.pdf', ['from stdin']],
    )
    assert.equal(parts[2]?.filename, 'note.txt')
    assert.ok(server.requests.every(({ path }) => !path.includes('x.pdf')))
    const drafts = await a2a(
      ['send', '-a', url, '-o', 'json', '--text-part', 'echo', '--data-part', 'a.json', '--file-part', 'note.txt'],
      {
        shows: 'accepts the newer spelling of the part options',
      },
    )
    assert.equal(echoOf(drafts.json<{ task: JsonTask }>().task).parts.length, 3)
    await writeFile(join(folder, 'broken.json'), '{')
    for (const args of [
      ['--data', 'broken.json'],
      ['--file', 'missing.txt'],
      ['positional', '--text', 'x'],
    ]) {
      const refused = await a2a(['send', '-a', url, '-o', 'json', ...args], {
        exit: 2,
        shows: 'is a usage error',
      })
      assert.equal(refused.json<JsonError>().error.code, 'A2ACLI_ERR_USAGE')
    }
  },
}
