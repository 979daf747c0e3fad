import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Struct } from '@parley/a2a'
import type { LoopTool } from './tool.ts'
import { withUniqueNames, parseToolInput } from './toolbox.ts'

const tool = (name: string): LoopTool => ({
  name,
  title: name,
  description: name,
  inputSchema: { type: 'object' },
  timeoutMs: 1,
})

describe('the tools of a turn', () => {
  it('have names that a model may use, each its own', () => {
    const names = ['search', 'files.read', 'search', 'search', '世界', 'x'.repeat(80), '']
    assert.deepEqual(
      [...withUniqueNames(names.map(tool)).keys()],
      ['search', 'files_read', 'search_2', 'search_3', '_', 'x'.repeat(60), 'tool'],
    )
  })
})

describe('what a model calls a tool with', () => {
  const schema: Struct = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }

  it('is an object that fits', () => {
    assert.deepEqual(parseToolInput('{"a":1,"b":2}', schema), { input: { a: 1, b: 2 } })
    assert.deepEqual(parseToolInput('', { type: 'object' }), { input: {} })
  })

  it('is refused in words that the model understands', () => {
    for (const nonsense of ['{"a":', '[1]', '"a"', 'null', 'Hello'])
      assert.match(JSON.stringify(parseToolInput(nonsense, schema)), /not a JSON object/)
    assert.match(JSON.stringify(parseToolInput('{"a":"one"}', schema)), /are invalid.*number/)
    assert.match(JSON.stringify(parseToolInput('', schema)), /are invalid/)
  })

  it('is left to the tool where its schema says what we cannot read', () => {
    assert.deepEqual(parseToolInput('{"a":1}', { type: 'object', properties: { a: { $ref: 'https://x.test/y' } } }), {
      input: { a: 1 },
    })
  })
})
