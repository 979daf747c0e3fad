import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentProfile } from '../directory/agent-directory.ts'
import { skillTools } from './skill-tools.ts'

const profile = (name: string, ...ids: string[]): AgentProfile => ({
  name,
  title: name,
  description: 'x'.repeat(5_000),
  version: '1',
  url: 'https://x.example',
  skills: ids.map((id) => ({ id, name: id, description: id, tags: [] })),
  inputModes: [],
  outputModes: [],
  isAvailable: true,
})

describe('tools of skills', () => {
  it('have names that every client takes, each its own and none of ours', () => {
    const profiles = [
      profile('a', 'b c', 'b/c', 'ü', 'x'.repeat(200), `${'x'.repeat(200)}y`),
      profile('a_b', 'c'),
      profile('send', 'message'),
      profile('bare'),
    ]
    const names = skillTools(profiles, ['send_message']).map(({ definition }) => definition.name)
    assert.equal(names.length, 8)
    assert.equal(new Set([...names, 'send_message']).size, 9)
    for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
    assert.deepEqual([names[0], names[1], names.at(-2), names.at(-1)], ['a_b_c', 'a_b_c_2', 'send_message_2', 'bare'])
  })

  it('have descriptions of a length that a model reads', () => {
    for (const { definition } of skillTools([profile('a', 'b')], []))
      assert.ok((definition.description?.length ?? 0) <= 2_000)
  })
})
