/**
 * A single field that takes a URL or a command. The hub detects the agent kind and shows the entry it would write; one click adds
 * it.
 */
import { useSignal } from '@preact/signals'
import { callAdmin, type AdminResponse } from '../api/admin-client.ts'
import { announce, showToast } from '../app/announce.ts'
import { CodeBlock } from '../components/content/code-block.tsx'
import { Icon } from '../components/icon.tsx'
import { ErrorNotice } from '../components/status/error-notice.tsx'
import { effectsText } from './effect-text.ts'
import { entryYaml } from './entry-yaml.ts'
import { InlineCodeText } from './inline-code-text.tsx'
import { fieldErrorsFrom, type FieldError } from '../components/form/field-errors.ts'
import { FieldErrorList } from '../components/form/form-fields.tsx'
import { useSubmit } from '../components/form/use-submit.ts'
import { parseTarget } from './parse-target.ts'
import './add-agent.css'

type DetectedAgent = AdminResponse<'detectAgent'>

export function AddAgent({ onAdded }: { readonly onAdded: (name: string) => void }) {
  const text = useSignal('')
  const token = useSignal('')
  const found = useSignal<DetectedAgent | undefined>(undefined)
  const { isBusy, problem, onSubmit } = useSubmit(async () => {
    const target = parseTarget(text.value)
    if (target === undefined) return
    found.value = undefined
    const secret = token.value.trim()
    found.value = await callAdmin('detectAgent', { body: { target, ...(secret === '' ? {} : { token: secret }) } })
    announce(found.value.kind === undefined ? 'Agent kind not recognized' : `It is ${found.value.kind}`)
  })

  return (
    <div class="stack add-agent">
      <form class="stack-small add-agent-box" onSubmit={onSubmit}>
        <label for="target" class="label">
          An address, or a command
        </label>
        <div class="add-agent-line">
          <input
            id="target"
            type="text"
            class="mono grow"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="https://agent.example.com   or   npx -y some-mcp-server"
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
          <button type="submit" class="primary" disabled={isBusy || text.value.trim() === ''}>
            {isBusy ? 'Detecting …' : 'Detect'}
          </button>
        </div>
        <p class="hint">
          A2A agents, MCP servers, OpenAI-compatible models, OpenClaw gateways, programs, modules. A command is run
          once, where the configuration is.
        </p>
        <details class="add-agent-token">
          <summary>It asks for credentials</summary>
          <div class="field">
            <label for="token">Token to try</label>
            <input
              id="token"
              type="password"
              autocomplete="off"
              value={token.value}
              onInput={(event) => (token.value = event.currentTarget.value)}
            />
            <p class="hint">
              It is tried and not kept: the entry will name the variable <code>AGENT_TOKEN</code> of the hub’s
              environment.
            </p>
          </div>
        </details>
      </form>
      {problem !== undefined && <ErrorNotice reason={problem} />}
      {found.value?.reasons !== undefined && <UnknownTarget reasons={found.value.reasons} />}
      {found.value?.kind !== undefined && (
        <DetectedForm key={`${found.value.kind} ${found.value.name}`} found={found.value} onAdded={onAdded} />
      )}
    </div>
  )
}

function UnknownTarget({ reasons }: { readonly reasons: readonly string[] }) {
  return (
    <section class="panel stack add-agent-found" aria-label="What was tried">
      <h3>Agent kind not recognized</h3>
      <ul class="add-agent-notes">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      <p class="hint">
        Is it running, and is the address right? You can also <a href="/agents/new?form=">choose a kind by hand</a>.
      </p>
    </section>
  )
}

function DetectedForm({ found, onAdded }: { readonly found: DetectedAgent; readonly onAdded: (name: string) => void }) {
  const { kind = '', notes = [] } = found
  const name = useSignal(found.name ?? '')
  const mistakes = useSignal<readonly FieldError[]>([])
  const entry = { kind, ...found.entry }
  const agent = name.value.trim()
  const { isBusy, onSubmit } = useSubmit(
    async () => {
      const { effects } = await callAdmin('addAgent', { body: { name: agent, entry } })
      showToast(effectsText(effects))
      onAdded(agent)
    },
    (problem) => (mistakes.value = fieldErrorsFrom(problem, agent)),
  )

  const wrongName = mistakes.value.filter(({ field }) => field === 'name')
  return (
    <form class="panel stack add-agent-found" aria-label="What was found" onSubmit={onSubmit}>
      <h3 class="row add-agent-kind">
        <Icon name="check" /> It is {kindNames[kind] ?? kind}
      </h3>
      {notes.length > 0 && (
        <ul class="add-agent-notes">
          {notes.map((note) => (
            <li key={note}>
              <InlineCodeText text={note} />
            </li>
          ))}
        </ul>
      )}
      <div class="field">
        <label for="found-name">Name on this hub</label>
        <input
          id="found-name"
          type="text"
          required
          autocomplete="off"
          spellcheck={false}
          value={name.value}
          aria-invalid={wrongName.length > 0}
          aria-describedby="found-mistakes"
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
      </div>
      <div class="field">
        <span class="label">What will be written</span>
        <CodeBlock text={entryYaml(agent || 'name', entry)} label="the entry" wrap />
      </div>
      <FieldErrorList id="found-mistakes" mistakes={mistakes.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          Add {agent}
        </button>
      </div>
    </form>
  )
}

const kindNames: Readonly<Record<string, string>> = {
  a2a: 'an A2A agent',
  mcp: 'an MCP server',
  openai: 'an OpenAI-compatible model',
  openclaw: 'an OpenClaw gateway',
  acp: 'an agent that speaks ACP',
  command: 'a program',
  module: 'an agent in a file',
}
