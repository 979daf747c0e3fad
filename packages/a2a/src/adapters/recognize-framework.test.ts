import assert from 'node:assert/strict'
import { it } from 'node:test'
import { recognizeFramework } from './recognize-framework.ts'

const run = (): void => {}

it('recognizes an agent by its shape, and nothing else', () => {
  const shapes: readonly (readonly [unknown, string | undefined])[] = [
    [{ version: 'agent-v1', stream: run, tools: {} }, 'ai-sdk'],
    [{ lg_is_pregel: true, stream: run }, 'langgraph'],
    [{ graph: { lg_is_pregel: true } }, 'langgraph'],
    [{ component: 'AGENT', resumeStream: run }, 'mastra'],
    [{ handoffs: [], tools: [], asTool: run, getSystemPrompt: run }, 'openai-agents'],
    [{ resume: 'rerun', run }, undefined],
    [{ version: 'agent-v2', stream: run }, undefined],
    [{ graph: null }, undefined],
    [run, undefined],
    [null, undefined],
    ['agent', undefined],
  ]
  for (const [value, expected] of shapes) assert.equal(recognizeFramework(value), expected, JSON.stringify(value))
})
