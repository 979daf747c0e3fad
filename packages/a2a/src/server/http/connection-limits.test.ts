import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import { createConnectionLimiter, type ConnectionLimiterDeps } from './connections.ts'

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string
  destroyed = false
  isIdle = true

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

function open(settings: Pick<ConnectionLimiterDeps, 'connections' | 'connectionsPerAddress'>) {
  const warnings: string[] = []
  const clock = { ms: 0 }
  const limiter = createConnectionLimiter({
    ...settings,
    isIdle: (socket) => (socket as FakeSocket).isIdle,
    log: { warn: (message) => void warnings.push(message) },
    now: () => clock.ms,
  })
  const connect = (address = '192.0.2.1', isIdle = true): FakeSocket => {
    const socket = new FakeSocket(address)
    socket.isIdle = isIdle
    limiter.admit(socket)
    return socket
  }
  return { limiter, connect, warnings, clock }
}

describe('limits of connections', () => {
  it('closes the oldest idle connection for a new one', () => {
    const { limiter, connect } = open({ connections: 3 })
    const [busy, first, second] = [connect('a', false), connect(), connect()]
    const third = connect()
    assert.deepEqual(
      [busy, first, second, third].map(({ destroyed }) => destroyed),
      [false, true, false, false],
    )
    const fourth = connect()
    assert.deepEqual(
      [busy, second, third, fourth].map(({ destroyed }) => destroyed),
      [false, true, false, false],
    )
    assert.deepEqual({ ...limiter.counts }, { open: 3, refused: 0, dropped: 2 })
  })

  it('refuses a new connection while all others are being answered', () => {
    const { limiter, connect } = open({ connections: 2 })
    const busy = [connect('a', false), connect('b', false)]
    assert.ok(connect().destroyed)
    assert.ok(busy.every(({ destroyed }) => !destroyed))
    assert.deepEqual({ ...limiter.counts }, { open: 2, refused: 1, dropped: 0 })
    busy[0]!.destroy()
    assert.ok(!connect().destroyed)
  })

  it('bounds the connections of one address, and of one IPv6 network', () => {
    const { limiter, connect } = open({ connections: 100, connectionsPerAddress: 2 })
    const first = connect()
    connect()
    assert.ok(connect('::ffff:192.0.2.1').destroyed)
    assert.ok(!connect('192.0.2.2').destroyed)
    connect('2001:db8::1')
    connect('2001:db8::2')
    assert.ok(connect('2001:db8::3').destroyed)
    first.destroy()
    assert.ok(!connect().destroyed)
    assert.equal(limiter.counts.refused, 2)
  })

  it('closes nothing for an address with too many connections, and drops refused ones', () => {
    const { limiter, connect } = open({ connections: 2, connectionsPerAddress: 1 })
    const others = [connect('a'), connect('b')]
    assert.ok(connect('a').destroyed)
    assert.ok(others.every(({ destroyed }) => !destroyed))
    for (const other of others) other.isIdle = false
    assert.ok(connect('c').destroyed)
    others[0]!.destroy()
    assert.ok(!connect('c').destroyed)
    assert.deepEqual({ ...limiter.counts }, { open: 2, refused: 2, dropped: 0 })
  })

  it('warns once a minute', () => {
    const { connect, warnings, clock } = open({ connections: 1 })
    for (let count = 0; count < 5; count += 1) connect()
    assert.equal(warnings.length, 1)
    clock.ms = 60_000
    connect()
    assert.equal(warnings.length, 2)
  })
})
