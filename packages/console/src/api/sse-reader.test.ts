import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSseReader } from './sse-reader.ts'

describe('server-sent events', () => {
  it('are parsed wherever the chunks are split', () => {
    const text = 'event: a\ndata: {"x":1}\nid: 4\n\ndata: one\ndata: two\n\n'
    for (let cut = 0; cut <= text.length; cut += 1) {
      const read = createSseReader()
      assert.deepEqual(
        [...read(text.slice(0, cut)), ...read(text.slice(cut))],
        [
          { event: 'a', data: '{"x":1}', id: '4' },
          { event: 'message', data: 'one\ntwo' },
        ],
        `cut at ${cut}`,
      )
    }
  })

  it('may have any of the three line endings', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['event: a', 'data: 1', '', 'data: 2', '', ''].join(end)
      for (let cut = 0; cut <= text.length; cut += 1) {
        const read = createSseReader()
        const events = [...read(text.slice(0, cut)), ...read(text.slice(cut)), ...read(end === '\r' ? 'x' : '')]
        assert.deepEqual(
          events.map(({ data }) => data),
          ['1', '2'],
          `${JSON.stringify(end)} cut at ${cut}`,
        )
      }
    }
  })

  it('ignore comments and empty events', () => {
    assert.deepEqual(createSseReader()(': awake\n\n\n\nevent: a\n\n'), [])
  })

  it('keep what follows the first colon, without one space', () => {
    assert.deepEqual(createSseReader()('data:  a: b\n\ndata\n\n'), [
      { event: 'message', data: ' a: b' },
      { event: 'message', data: '' },
    ])
  })
})
