/** One box: an address or a command. The hub finds out what it is and says what it would write; one press adds it. */
import { useSignal } from '@preact/signals'
import type { AnswerOf } from '../../api/call.ts'
import { call } from '../../api/call.ts'
import { problemOf } from '../../api/problem.ts'
import { announce, tell } from '../../app/announce.ts'
import { Code } from '../../parts/code.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Trouble } from '../../parts/trouble.tsx'
import { effectText } from './effect-text.ts'
import { entryYaml } from './entry-yaml.ts'
import { InlineWords } from './inline-words.tsx'
import { mistakesIn } from './mistakes.ts'
import type { Mistake } from './mistakes.ts'
import { Mistakes } from './mistake-list.tsx'
import { targetOf } from './target.ts'
import './add-agent.css'

type Detected = AnswerOf<'detectAgent'>

export function AddAgent({ onAdded }: { readonly onAdded: (name: string) => void }) {
  const text = useSignal('')
  const token = useSignal('')
  const isBusy = useSignal(false)
  const found = useSignal<Detected | undefined>(undefined)
  const reason = useSignal<unknown>(undefined)

  async function detect(event: Event): Promise<void> {
    event.preventDefault()
    const target = targetOf(text.value)
    if (target === undefined) return
    isBusy.value = true
    found.value = undefined
    reason.value = undefined
    try {
      const secret = token.value.trim()
      found.value = await call('detectAgent', { body: { target, ...(secret === '' ? {} : { token: secret }) } })
      announce(found.value.kind === undefined ? 'Nobody knows what it is' : `It is ${found.value.kind}`)
    } catch (thrown) {
      reason.value = thrown
    }
    isBusy.value = false
  }

  return (
    <div class="add-agent">
      <form class="add-agent-box" onSubmit={(event) => void detect(event)}>
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
          <button type="submit" class="primary" disabled={isBusy.value || text.value.trim() === ''}>
            {isBusy.value ? 'Looking …' : 'Find out'}
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
      {reason.value !== undefined && <Trouble reason={reason.value} />}
      {found.value?.reasons !== undefined && <Unknown reasons={found.value.reasons} />}
      {found.value?.kind !== undefined && (
        <Found key={`${found.value.kind} ${found.value.name}`} found={found.value} onAdded={onAdded} />
      )}
    </div>
  )
}

function Unknown({ reasons }: { readonly reasons: readonly string[] }) {
  return (
    <section class="panel add-agent-found" aria-label="What was tried">
      <h3>Nobody here knows what that is</h3>
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

function Found({ found, onAdded }: { readonly found: Detected; readonly onAdded: (name: string) => void }) {
  const { kind = '', notes = [] } = found
  const name = useSignal(found.name ?? '')
  const mistakes = useSignal<readonly Mistake[]>([])
  const isBusy = useSignal(false)
  const entry = { kind, ...found.entry }

  async function add(event: Event): Promise<void> {
    event.preventDefault()
    isBusy.value = true
    try {
      const { effects } = await call('addAgent', { body: { name: name.value.trim(), entry } })
      tell(effectText(effects))
      onAdded(name.value.trim())
    } catch (thrown) {
      mistakes.value = mistakesIn(problemOf(thrown), name.value.trim())
    }
    isBusy.value = false
  }

  const wrongName = mistakes.value.filter(({ field }) => field === 'name')
  return (
    <form class="panel add-agent-found" aria-label="What was found" onSubmit={(event) => void add(event)}>
      <h3 class="add-agent-kind">
        <Icon name="check" /> It is {kindWords[kind] ?? kind}
      </h3>
      {notes.length > 0 && (
        <ul class="add-agent-notes">
          {notes.map((note) => (
            <li key={note}>
              <InlineWords text={note} />
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
        <Code text={entryYaml(name.value.trim() || 'name', entry)} label="the entry" wrap />
      </div>
      <Mistakes id="found-mistakes" mistakes={mistakes.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy.value}>
          Add {name.value.trim()}
        </button>
      </div>
    </form>
  )
}

const kindWords: Readonly<Record<string, string>> = {
  a2a: 'an A2A agent',
  mcp: 'an MCP server',
  openai: 'an OpenAI-compatible model',
  openclaw: 'an OpenClaw gateway',
  acp: 'an agent that speaks ACP',
  command: 'a program',
  module: 'an agent in a file',
}
