import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '@parley/a2a'
import { createLog, type LogOptions } from './hub-log.ts'

const at = Date.UTC(2030, 0, 1)

function open(options: Partial<LogOptions> = {}) {
  const written: string[] = []
  const log = createLog({
    level: 'info',
    format: 'json',
    write: (lines) => void written.push(lines),
    now: () => at,
    ...options,
  })
  const lines = (): readonly string[] => {
    log.flush()
    return written.flatMap((text) => text.split('\n'))
  }
  return { log, lines, written, json: () => lines().map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('the log', () => {
  it('is a line of JSON for each thing, with time, level and the ids that it is about [B-171 T-12]', () => {
    const { log, json } = open()
    log.warn('a tool failed', { agent: 'gpt', taskId: 't1', contextId: 'c1', traceId: 'a'.repeat(32), tool: 'search' })
    assert.deepEqual(json(), [
      {
        time: '2030-01-01T00:00:00.000Z',
        level: 'warn',
        message: 'a tool failed',
        agent: 'gpt',
        taskId: 't1',
        contextId: 'c1',
        traceId: 'a'.repeat(32),
        tool: 'search',
      },
    ])
  })

  it('leaves out what is below its level', () => {
    const { log, json } = open({ level: 'warn' })
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](level)
    assert.deepEqual(
      json().map(({ message }) => message),
      ['warn', 'error'],
    )
  })

  it('tells a cause and what is behind it; of errors that are not ours with the place', () => {
    const { log, json } = open()
    const cause = new A2AError('UNAVAILABLE', 'The model is away', {}, { cause: new TypeError('fetch failed') })
    log.error('a call failed', { cause })
    const [{ error } = {}] = json() as { error?: Record<string, unknown> }[]
    assert.deepEqual(
      [error?.['name'], error?.['message'], error?.['code'], error?.['stack']],
      ['A2AError', 'The model is away', 'UNAVAILABLE', undefined],
    )
    const under = error?.['cause'] as { name: string; stack: string }
    assert.equal(under.name, 'TypeError')
    assert.match(under.stack, /hub-log\.test\.ts/)
    assert.doesNotMatch(under.stack, /node:internal/)
  })

  it('leaves out the place of a query where PostgreSQL starts or stops, and keeps that of a wrong one', () => {
    const { log, json } = open()
    for (const code of ['57P03', '42601']) {
      const refused = Object.assign(new Error('refused'), { name: 'error', code })
      log.warn('due work failed', {
        cause: new A2AError('UNAVAILABLE', 'The store does not answer', {}, { cause: refused }),
      })
    }
    const errors = json().map(({ error }) => (error as { cause: { stack?: string } }).cause)
    assert.deepEqual(
      errors.map(({ stack }) => stack !== undefined),
      [false, true],
    )
  })

  it('holds no secret, in no field, however deep, and in no text [B-170 T-12]', () => {
    const { log, lines } = open({ secrets: ['hunter2-hunter2'] })
    log.info('called with Bearer abcdefghijkl', {
      request: { headers: { authorization: 'Basic eDp5enp5eno=' }, apiKey: 'abc', url: 'https://a:pw1234@x.test' },
      said: 'my hunter2-hunter2',
      cause: new Error('refused hunter2-hunter2'),
    })
    const [line = ''] = lines()
    assert.doesNotMatch(line, /abcdefghijkl|eDp5|"abc"|pw1234|hunter2/)
    assert.match(line, /Bearer \[redacted\]/)
  })

  it('never fails over what it is given, and never grows without end', () => {
    const { log, json } = open()
    const cycle: Record<string, unknown> = { big: 10n, when: new Date(0), call: () => 1, nan: Number.NaN }
    cycle['self'] = cycle
    log.info('odd', { cycle, long: 'x'.repeat(100_000), many: Array.from({ length: 10_000 }, () => 1) })
    const [line] = json()
    assert.ok(JSON.stringify(line).length < 10_000)
    assert.equal((line?.['cycle'] as { when: string } | undefined)?.when, '1970-01-01T00:00:00.000Z')
  })

  it('is text for people on a terminal', () => {
    const { log, lines } = open({ format: 'text' })
    log.error('the agent could not be opened', {
      agent: 'gpt',
      tries: 2,
      token: 'abc',
      cause: new Error('no such file'),
    })
    assert.deepEqual(lines(), [
      '2030-01-01T00:00:00.000Z ERROR the agent could not be opened agent=gpt tries=2 token=[redacted]: no such file',
    ])
  })

  it('writes the lines of one turn of the event loop together, and errors at once', async () => {
    const { log, written } = open()
    log.info('one')
    log.info('two')
    assert.deepEqual(written, [])
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(written.length, 1)
    log.error('three')
    assert.deepEqual(written.length, 2)
  })

  it('cuts off a flood, and says how much was lost', () => {
    let now = at
    const { log, json } = open({ now: () => now })
    for (let n = 0; n < 5_000; n += 1) log.info('again')
    now += 1_000
    log.info('after')
    const lines = json()
    assert.equal(lines.length, 2_002)
    assert.deepEqual(lines.at(-2)?.['dropped'], 3_000)
  })
})
