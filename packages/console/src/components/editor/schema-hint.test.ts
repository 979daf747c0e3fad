import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { ConfigSchema } from './config-schema.ts'
import { schemaHintAt } from './schema-hint.ts'

const file = new URL('../../../../hub/parley.schema.json', import.meta.url)
const schema = JSON.parse(readFileSync(file, 'utf8')) as ConfigSchema

/** The hint at `|`. */
const hint = (marked: string) => schemaHintAt(marked.replace('|', ''), marked.indexOf('|'), schema)

describe('the hint for the key at the cursor', () => {
  it('has the path, the type, the default and the description', () => {
    assert.deepEqual(hint('agents:\n  gpt:\n    kind: openai\n    retryWait: 5|s\n'), {
      path: 'agents.gpt.retryWait',
      type: 'duration, such as 30s or 10m',
      defaultText: '60s',
      about: 'The longest delay before a retry. Default 60s.',
      isRequired: false,
      isSecret: false,
    })
  })

  it('is that of the named kind, also below it and in flow style', () => {
    const openai = hint('agents:\n  gpt:\n    mod|el: x\n    kind: openai\n')
    assert.deepEqual([openai?.about, openai?.isRequired], ['The model that answers.', true])
    assert.match(hint('agents:\n  l: { kind: loop, mo|del: gpt }\n')?.about ?? '', /whose model is used/)
    assert.equal(hint('agents:\n  r:\n    kind: a2a\n    auth:\n      bea|rer: x\n')?.isSecret, true)
    assert.equal(hint('agents:\n  c: { kind: command, mode: ke|ep }\n')?.type, 'turn | keep')
    assert.match(hint('agents:\n  c:\n    ki|nd: demo\n')?.type ?? '', /^module \| openai \| .* \| demo$/)
  })

  it('is absent in comments, and for unknown keys', () => {
    assert.equal(hint('# lis|ten: 1\n'), undefined)
    assert.equal(hint('colo|ur: red\n'), undefined)
  })
})
