import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { exchangeCurl } from './exchange-curl.ts'

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

describe('a request as a command', () => {
  it('reaches the server as it was, with a place for the key and no secret of the page', () => {
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

  it('takes a body that is longer than a shell takes a word', () => {
    const body = JSON.stringify({ raw: 'A'.repeat(300_000) })
    const said = argumentsOf(exchangeCurl({ ...request, body }, keyed))
    assert.equal(said.at(-1), `${body}\n`)
    assert.equal(said.at(-2), '@-')
  })

  it('of a request without a body is short', () => {
    assert.equal(
      exchangeCurl({ method: 'GET', url: 'http://h/card', headers: [], body: undefined }, keyed),
      `curl 'http://h/card' \\\n  -H "Authorization: Bearer $PARLEY_KEY"`,
    )
  })
})
