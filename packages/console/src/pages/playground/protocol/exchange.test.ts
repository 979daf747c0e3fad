import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  frameData,
  frameSummary,
  frameId,
  requestOperation,
  protocolRows,
  protocolRowText,
  exchangeCurl,
} from './exchange.ts'
import type { Exchange } from './exchange.ts'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const exchange: Exchange = {
  id: 1,
  method: 'POST',
  url: 'http://hub.test/a2a/talker',
  headers: [['a2a-version', '1.0']],
  body: '{"jsonrpc":"2.0","method":"SendStreamingMessage"}',
  sentAt: 0,
  response: { status: 200, headers: [['content-type', 'text/event-stream']], afterMs: 3 },
  frames: [
    { afterMs: 4, text: ':' },
    { afterMs: 5, text: 'id: 2\ndata: {"result":{"task":{"id":"t","status":{"state":"TASK_STATE_SUBMITTED"}}}}' },
  ],
  droppedFrames: 0,
  ended: { afterMs: 9, why: 'broken' },
}

describe('the rows of the protocol', () => {
  it('are the request, the response head, each frame, and an unusual end', () => {
    assert.deepEqual(
      protocolRows([exchange], '').map(({ kind }) => kind),
      ['request', 'answer', 'frame', 'frame', 'end'],
    )
    assert.equal(protocolRows([{ ...exchange, ended: { afterMs: 9, why: 'whole' } }], '').length, 4)
  })

  it('are found by any content', () => {
    assert.deepEqual(
      protocolRows([exchange], 'submitted').map(({ kind }) => kind),
      ['frame'],
    )
    assert.equal(protocolRows([exchange], 'nothing of that').length, 0)
  })

  it('are copied as recorded', () => {
    assert.equal(
      protocolRowText({ kind: 'request', exchange }),
      'POST http://hub.test/a2a/talker\na2a-version: 1.0\n\n{"jsonrpc":"2.0","method":"SendStreamingMessage"}',
    )
  })
})

describe('the summary of a frame', () => {
  it('is short, in every version and binding', () => {
    const gists: readonly (readonly [string, string])[] = [
      [':', 'heartbeat'],
      [exchange.frames[1]?.text ?? '', 'task · SUBMITTED'],
      ['data: {"artifactUpdate":{"artifact":{"parts":[{"text":"a\\nb"}]}}}', 'artifactUpdate · “a⏎b”'],
      [
        'data: {"result":{"kind":"status-update","status":{"state":"working"},"final":false}}',
        'status-update · working',
      ],
      ['{"error":{"code":-32001,"message":"gone"}}', 'error -32001 gone'],
      ['no json', 'no json'],
    ]
    for (const [text, gist] of gists) assert.equal(frameSummary(text), gist)
  })

  it('has the data and the id', () => {
    assert.equal(frameId('id: 12\ndata: {}'), '12')
    assert.deepEqual(frameData('event: x\ndata: {"a":\ndata: 1}'), { a: 1 })
    assert.equal(frameData(': comment'), undefined)
  })

  it('is the operation for a request', () => {
    assert.equal(requestOperation(exchange), 'SendStreamingMessage')
    assert.equal(requestOperation({ method: 'POST', url: 'http://h/a2a/t/message:stream', body: '{}' }), 'stream')
    assert.equal(
      requestOperation({ method: 'GET', url: 'http://h/a2a/t/.well-known/agent-card.json', body: undefined }),
      'agent card',
    )
  })
})

const request = {
  method: 'POST',
  url: 'http://hub.test/a2a/talker',
  headers: [
    ['accept', 'text/event-stream'],
    ['content-type', 'application/json'],
    ['x-csrf-token', 'half of a session'],
  ] as const,
  body: `{"text":"it's $HOME and \\"this\\""}`,
}

const keyed = { isOpen: false }

/** The arguments that a shell passes on. */
function argumentsOf(command: string): readonly string[] {
  const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; cat; }\n${command}`
  const folder = mkdtempSync(join(tmpdir(), 'parley-curl-'))
  try {
    writeFileSync(join(folder, 'script'), script)
    const options = { env: { ...process.env, PARLEY_KEY: 'key' }, input: '', maxBuffer: 1e7 }
    return execFileSync('sh', [join(folder, 'script')], options)
      .toString()
      .split('\0')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('a recorded request as a curl command', () => {
  it('reaches the server unchanged, with a variable for the key and no secret of the page', () => {
    const said = argumentsOf(exchangeCurl(request, keyed))
    assert.deepEqual(said.slice(0, -1), [
      '-N',
      '-X',
      'POST',
      request.url,
      '-H',
      'accept: text/event-stream',
      '-H',
      'content-type: application/json',
      '-H',
      'Authorization: Bearer key',
      '-d',
      request.body,
    ])
    assert.ok(!exchangeCurl(request, keyed).includes('half of a session'))
  })

  it('has no Authorization header for an agent that may be called anonymously', () => {
    assert.ok(!argumentsOf(exchangeCurl(request, { isOpen: true })).some((word) => /authorization/i.test(word)))
  })

  it('takes a body that is longer than an argument of a shell', () => {
    const body = JSON.stringify({ raw: 'A'.repeat(300_000) })
    const said = argumentsOf(exchangeCurl({ ...request, body }, keyed))
    assert.equal(said.at(-1), `${body}\n`)
    assert.equal(said.at(-2), '@-')
  })

  it('has no body if the request has none', () => {
    assert.equal(
      exchangeCurl({ method: 'GET', url: 'http://h/card', headers: [], body: undefined }, keyed),
      `curl 'http://h/card' \\\n  -H "Authorization: Bearer $PARLEY_KEY"`,
    )
  })
})
