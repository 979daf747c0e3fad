import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Part, Struct } from '@parley/a2a'
import type { Callable } from './callable.ts'
import { resolveCall, type PendingCall } from './call-request.ts'

const callable = (name: string, properties: Struct, title = name): Callable => ({
  name,
  title,
  description: name,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  type: 'tool',
  isRepeatable: false,
  call: () => assert.fail('nothing is called here'),
})
const sum = callable('get-sum', { a: { type: 'number' }, b: { type: 'number' } }, 'Add')
const echo = callable('echo', { message: { type: 'string' } })
const rename = callable('rename', { name: { type: 'string' }, tool: { type: 'string' } })
const all = [sum, echo, rename]

interface Given {
  readonly skillId?: string
  readonly pending?: PendingCall
  readonly among?: readonly Callable[]
}

function read(said: string | Struct | readonly Part[], { skillId, pending, among = all }: Given = {}) {
  const parts = typeof said === 'string' ? [{ text: said }] : Array.isArray(said) ? said : [{ data: said as Struct }]
  const request = resolveCall(
    {
      message: { messageId: 'm', role: 'ROLE_USER', parts: parts as readonly Part[] },
      metadata: skillId === undefined ? {} : { skillId },
      pending,
    },
    among,
  )
  return 'why' in request ? request : { tool: request.callable.name, input: request.input }
}
const why = (said: Parameters<typeof read>[0], given?: Given) => {
  const request = read(said, given)
  assert.ok('why' in request, `it was read as ${JSON.stringify(request)}`)
  return { why: request.why, byProgram: request.isFromProgram, begun: request.partialCall?.callable.name }
}

describe('a message to a server', () => {
  it('names its tool in the data, or is for the skill that is meant', () => {
    const wanted = { tool: 'get-sum', input: { a: 1, b: 2 } }
    assert.deepEqual(read({ tool: 'get-sum', arguments: { a: 1, b: 2 } }), wanted)
    assert.deepEqual(read({ name: 'get_sum', arguments: { a: 1, b: 2 } }), wanted)
    assert.deepEqual(read({ a: 1, b: 2 }, { skillId: 'get-sum' }), wanted)
    assert.deepEqual(read({ tool: 'Add', arguments: { a: 1, b: 2 } }, { skillId: 'get-sum' }), wanted)
    assert.deepEqual(read({ a: 1, b: 2 }, { among: [sum] }), wanted)
    assert.deepEqual(read('{"tool":"get-sum","arguments":{"a":1,"b":2}}'), wanted)
  })

  it('may stand in backticks, however many are inside', () => {
    assert.deepEqual(read('```get-sum(1, 2)```'), { tool: 'get-sum', input: { a: 1, b: 2 } })
    const before = process.threadCpuUsage()
    read(`x${'`'.repeat(200_000)}x`)
    assert.ok(process.threadCpuUsage(before).user < 1_000_000)
  })

  it('may have arguments that are called as those of a call are', () => {
    const input = { name: 'x', tool: 'echo' }
    assert.deepEqual(read(input, { skillId: 'rename' }), { tool: 'rename', input })
    assert.deepEqual(read({ tool: 'rename', arguments: input }), { tool: 'rename', input })
  })

  it('is a call in words, however the name is written', () => {
    for (const text of ['get-sum(1, 2)', 'getSum a=1 b=2', '`get_sum({"a":1,"b":2})`', 'add a=1 b=2'])
      assert.deepEqual(read(text), { tool: 'get-sum', input: { a: 1, b: 2 } }, text)
    assert.deepEqual(read('echo hello there'), { tool: 'echo', input: { message: 'hello there' } })
    assert.deepEqual(read('hello there', { skillId: 'echo' }), { tool: 'echo', input: { message: 'hello there' } })
    assert.deepEqual(read('hello there', { among: [echo] }), { tool: 'echo', input: { message: 'hello there' } })
  })

  it('goes on with what was asked about, unless it is another call', () => {
    const pending = { tool: 'get-sum', input: { a: 1 } }
    assert.deepEqual(read('2', { pending }), { tool: 'get-sum', input: { a: 1, b: 2 } })
    assert.deepEqual(read({ b: 2, a: 5 }, { pending }), { tool: 'get-sum', input: { a: 5, b: 2 } })
    assert.deepEqual(read('echo("hi")', { pending }), { tool: 'echo', input: { message: 'hi' } })
    const message = { tool: 'echo', input: {} }
    assert.deepEqual(read('echo or not', { pending: message }), { tool: 'echo', input: { message: 'echo or not' } })
    assert.equal(why('2', { pending: { tool: 'gone', input: {} } }).begun, undefined)
  })

  it('is not clear: a program receives a refusal, a person a question', () => {
    assert.deepEqual(why({ tool: 'nope' }), { why: 'Unknown tool nope', byProgram: true, begun: undefined })
    assert.deepEqual(why('nope(1)'), { why: 'Unknown tool nope', byProgram: false, begun: undefined })
    assert.equal(why('hi', { skillId: 'nope' }).byProgram, true)
    assert.match(why({ a: 1 }).why, /^Name the tool/)
    assert.match(why('How are you?').why, /tool is ambiguous/)
    assert.match(why('').why, /^Name the tool/)
    assert.match(why([{ data: 5 }]).why, /must be an object/)
    assert.match(why([{ data: {} }, { data: {} }]).why, /One call per message/)
    assert.deepEqual(why('get-sum maybe'), {
      why: 'Send the arguments for get-sum',
      byProgram: false,
      begun: 'get-sum',
    })
    assert.match(why({ tool: 'get-sum', arguments: { a: 'x' } }).why, /a is invalid.*; b is missing$/)
  })
})
