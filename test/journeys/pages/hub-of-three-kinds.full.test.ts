/**
 * docs/tutorials/hub-of-three-kinds.md works as printed, also for the published clients of two protocol versions, and has the
 * files of examples/hub.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import type { Message as Message0_3, Task as Task0_3 } from 'a2a-sdk-0.3'
import { ClientFactory as ClientFactory0_3 } from 'a2a-sdk-0.3/client'
import { SendMessageRequest, Task } from 'a2a-sdk-1'
import { ClientFactory } from 'a2a-sdk-1/client'
import { describePage } from './describe-page.ts'
import { pageSteps, readPage, root } from './page-steps.ts'

const page = 'docs/tutorials/hub-of-three-kinds.md'

const expected: readonly [agent: string, text: string, answer: string][] = [
  ['greeter', 'you', 'Good morning, you!'],
  ['words', 'one two three', '3'],
  ['gpt', 'Hello', 'You said "Hello", and I am only a script.'],
]

describePage(page, {
  ports: [3000, 3001, 4010],
  finally(step, runner) {
    step('serves the published clients of 0.3 and 1.0', async () => {
      const url = `http://127.0.0.1:${runner().portOf(3000)}`
      for (const [agent, text, answer] of expected) {
        const card = `/a2a/${agent}/.well-known/agent-card.json`
        const old = await new ClientFactory0_3().createFromUrl(url, card)
        const oldTask = (await old.sendMessage({ message: oldMessage(text) })) as Task0_3
        assert.equal(textOf(oldTask), answer, `${agent} to a client of 0.3`)
        const client = await new ClientFactory().createFromUrl(url, card)
        const said = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
        const task = await client.sendMessage(SendMessageRequest.fromJSON({ message: said }))
        assert.equal(textOf(Task.toJSON(task as Task) as Answered), answer, `${agent} to a client of 1.0`)
      }
    })
  },
})

it('the tutorial has the files of examples/hub', async () => {
  const files = pageSteps(readPage(page)).filter((step) => step.kind === 'file')
  for (const name of ['greeter.ts', 'model.ts', 'parley.yaml']) {
    const example = await readFile(join(root, 'examples/hub', name), 'utf8')
    const shown = files.find((file) => file.name === name)?.content
    assert.equal(shown, example.replace(/^# yaml-language-server.*\n/, ''), name)
  }
})

function oldMessage(text: string): Message0_3 {
  return { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }] }
}

interface Answered {
  readonly artifacts?: readonly { readonly parts: readonly object[] }[]
}

function textOf({ artifacts = [] }: Answered): string {
  const parts = artifacts.flatMap((artifact) => artifact.parts) as { text?: string }[]
  return parts
    .map(({ text = '' }) => text)
    .join('')
    .trim()
}
