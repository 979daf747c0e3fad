/** The pages on model agents document every field of an entry. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { loopEntry } from '../../packages/hub/src/agents/loop/entry.ts'
import { mcpEntry, mcpServerFields } from '../../packages/hub/src/agents/mcp/server.ts'
import { openaiEntry } from '../../packages/hub/src/agents/openai/entry.ts'

const page = (name: string) => readFileSync(join(import.meta.dirname, `../../docs/guides/agents/${name}.md`), 'utf8')
const fieldsIn = (text: string) =>
  new Set([...text.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []))

describe('the pages on model agents', () => {
  it('list every field of an openai entry', () => {
    const known = fieldsIn(page('openai'))
    assert.deepEqual(
      Object.keys(openaiEntry.shape).filter((field) => !known.has(field)),
      [],
    )
  })

  it('list every field of a loop entry and of an MCP server', () => {
    const known = fieldsIn(page('loop'))
    const fields = [...Object.keys(loopEntry.shape), ...Object.keys(mcpServerFields)]
    assert.deepEqual(
      fields.filter((field) => !known.has(field)),
      [],
    )
  })

  it('list every field of an mcp entry', () => {
    const known = fieldsIn(page('mcp'))
    assert.deepEqual(
      Object.keys(mcpEntry.shape).filter((field) => !known.has(field)),
      [],
    )
  })
})
