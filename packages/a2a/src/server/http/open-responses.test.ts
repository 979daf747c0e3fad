import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import { dropStalled, isWaitingForClient, trackResponses } from './connections.ts'

class FakeResponse extends EventEmitter {
  readonly socket: { bytesWritten: number; writableLength: number; looks: number }
  readonly req: { complete: boolean; readonly socket: object }
  headersSent = false
  isDestroyed = false

  constructor(writableLength: number, connection: object = {}) {
    super()
    this.req = { complete: true, socket: connection }
    this.socket = {
      looks: 0,
      writableLength,
      get bytesWritten() {
        this.looks += 1
        return 1_000
      },
    }
  }

  destroy(): void {
    this.isDestroyed = true
    this.emit('close')
  }
}

describe('stalled responses', () => {
  it('are cut after four checks without progress; streams with nothing to send are not checked', ({ mock }) => {
    mock.timers.enable({ apis: ['setInterval'] })
    const server = new EventEmitter()
    const open = trackResponses(server)
    let stalled = 0
    dropStalled(server, open, 4_000, () => (stalled += 1))
    const [idle, stuck, moving] = [new FakeResponse(0), new FakeResponse(10), new FakeResponse(10)]
    for (const one of [idle, stuck, moving]) server.emit('request', one.req, one)
    for (let seconds = 0; seconds < 5; seconds += 1) {
      assert.equal(stuck.isDestroyed, false)
      moving.socket.writableLength += 1
      mock.timers.tick(1_000)
    }
    assert.deepEqual(
      [idle, stuck, moving].map(({ isDestroyed }) => isDestroyed),
      [false, true, false],
    )
    assert.equal(stalled, 1)
    assert.equal(idle.socket.looks, 0)
    assert.deepEqual(open(), [idle, moving])
    server.emit('close')
  })
})

describe('a connection', () => {
  it('waits for its client until the request is complete, and again after its response', () => {
    const server = new EventEmitter()
    trackResponses(server)
    const connection = {}
    assert.equal(isWaitingForClient(connection), true)
    const response = new FakeResponse(0, connection)
    response.req.complete = false
    server.emit('request', response.req, response)
    assert.equal(isWaitingForClient(connection), true)
    response.req.complete = true
    assert.equal(isWaitingForClient(connection), false)
    response.emit('close')
    assert.equal(isWaitingForClient(connection), true)
  })

  it('below TLS is the one that counts, and a pipelined request keeps it', () => {
    const server = new EventEmitter()
    trackResponses(server)
    const below = {}
    const [first, second] = [new FakeResponse(0, { _parent: below }), new FakeResponse(0, { _parent: below })]
    for (const one of [first, second]) server.emit('request', one.req, one)
    first.emit('close')
    assert.equal(isWaitingForClient(below), false)
    second.emit('close')
    assert.equal(isWaitingForClient(below), true)
  })
})
