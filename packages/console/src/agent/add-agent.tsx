/**
 * A single field that takes a URL, a command or a file. The hub detects the agent kind and shows the entry it would write; one click
 * adds it.
 */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callAdmin } from '../api/admin-client.ts'
import { isProblem } from '../api/problem.ts'
import { announce, showToast } from '../app/announce.ts'
import { CodeBlock } from '../components/content/code-block.tsx'
import { Icon } from '../components/icon.tsx'
import { ErrorNotice, FailureNotice } from '../components/status/error-notice.tsx'
import { effectsText } from './effect-text.ts'
import { entryYaml } from './entry-yaml.ts'
import { InlineCodeText } from './inline-code-text.tsx'
import { fieldErrorsFrom, type FieldError } from '../components/form/field-errors.ts'
import { FieldErrorList } from '../components/form/form-fields.tsx'
import { useSubmit } from '../components/form/use-submit.ts'
import { detectedAs, useDetection, type DetectedEntry, type DetectionResult } from './detection.ts'
import { kindText } from './kind-text.ts'
import { parseTarget } from './parse-target.ts'
import './add-agent.css'

export function AddAgent({ onAdded }: { readonly onAdded: (name: string) => void }) {
  const text = useSignal('')
  const token = useSignal('')
  /** The one of the last detection. */
  const tested = useSignal('')
  const detection = useDetection()
  const { startedAt, result, problem } = detection
  const isRunning = startedAt !== undefined
  const needsToken = result?.diagnosis?.code === 'unauthenticated'

  async function detect(): Promise<void> {
    const target = parseTarget(text.value)
    if (target === undefined) return
    tested.value = token.value.trim()
    const found = await detection.run(target, tested.value)
    if (found?.kind !== undefined) announce(`Detected ${kindText(found.kind).detected}`)
  }

  function cancel(): void {
    detection.cancel()
    announce('Detection canceled')
  }

  return (
    <div class="stack add-agent">
      <form
        class="stack-small add-agent-box"
        onSubmit={(event) => {
          event.preventDefault()
          void detect()
        }}
      >
        <label for="target" class="label">
          URL, command or file
        </label>
        <div class="add-agent-line">
          <input
            id="target"
            type="text"
            class="mono grow"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="https://agent.example.com, localhost:8080, npx -y some-mcp-server or ./agent.ts"
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
          {/* Two elements: a click on one that becomes a submit button would submit. */}
          {isRunning ? (
            <button key="cancel" type="button" onClick={cancel}>
              Cancel
            </button>
          ) : (
            <button key="detect" type="submit" class="primary" disabled={text.value.trim() === ''}>
              Detect
            </button>
          )}
        </div>
        {isRunning ? (
          <DetectionProgress startedAt={startedAt} />
        ) : (
          <p class="hint">
            The hub detects A2A agents, MCP servers, models, OpenClaw gateways, coding agents, programs and modules.
            Commands run in the config file’s directory.
          </p>
        )}
        <details class="add-agent-token" open={needsToken || token.value !== ''}>
          <summary>Requires authentication</summary>
          <div class="field">
            <label for="token">Token</label>
            <input
              id="token"
              type="password"
              autocomplete="off"
              value={token.value}
              onInput={(event) => (token.value = event.currentTarget.value)}
            />
            <p class="hint">
              Used to detect the agent. When you add the agent, the hub keeps the token encrypted, and the entry refers
              to it.
            </p>
          </div>
        </details>
      </form>
      {problem !== undefined && <ErrorNotice reason={problem} retry={() => void detect()} />}
      {result?.diagnosis !== undefined && (
        <FailureNotice
          title={result.diagnosis.title}
          cause={result.diagnosis.cause}
          advice={result.diagnosis.advice}
          details={result.reasons ?? []}
          label="Detection failed"
          actions={
            <>
              <button type="button" class="small" onClick={() => void detect()}>
                Detect again
              </button>
              <a class="button small" href="/agents/new?form=">
                Choose kind
              </a>
            </>
          }
        />
      )}
      {result?.kind !== undefined && (
        <DetectedForm key={`${result.kind} ${result.name}`} found={result} token={tested.value} onAdded={onAdded} />
      )}
    </div>
  )
}

const tickMs = 100

/** The elapsed time: programs take a while to start. */
function DetectionProgress({ startedAt }: { readonly startedAt: number }) {
  const now = useSignal(startedAt)
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), tickMs)
    return () => clearInterval(timer)
  }, [])
  return (
    <p class="hint add-agent-progress">
      <span role="status">Detecting…</span> <span role="timer">{((now.value - startedAt) / 1_000).toFixed(1)} s</span>
    </p>
  )
}

interface DetectedFormProps {
  readonly found: DetectionResult
  /** With which it was detected. */
  readonly token: string
  readonly onAdded: (name: string) => void
}

function DetectedForm({ found, token, onAdded }: DetectedFormProps) {
  const { kind = '', notes = [] } = found
  const name = useSignal(found.name ?? '')
  const mistakes = useSignal<readonly FieldError[]>([])
  const agent = name.value.trim()
  const chosen = detectedAs(found, agent)
  const entry = { kind, ...chosen.entry }

  function add(from: DetectedEntry) {
    const secrets = from.secret === undefined ? {} : { [from.secret]: token }
    return callAdmin('addAgent', { body: { name: agent, entry: { kind, ...from.entry }, secrets } })
  }

  const { isBusy, onSubmit } = useSubmit(
    async () => {
      const { effects } = await add(chosen).catch((reason: unknown) => {
        // The secret may exist. The name that the hub has proposed is free.
        if (isProblem(reason, 'CONFLICT') && chosen.secret !== found.secret) return add(found)
        throw reason
      })
      showToast(effectsText(effects))
      onAdded(agent)
    },
    (problem) => (mistakes.value = fieldErrorsFrom(problem, agent)),
  )

  const wrongName = mistakes.value.filter(({ field }) => field === 'name')
  const { detected, icon } = kindText(kind)
  return (
    <form class="panel stack add-agent-found" aria-label="Detected agent" onSubmit={onSubmit}>
      <h3 class="row add-agent-kind">
        <Icon name={icon} /> Detected {detected}
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
        <label for="found-name">Agent name</label>
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
        <span class="label">Configuration entry</span>
        <CodeBlock text={entryYaml(agent || 'name', entry)} label="the entry" wrap />
      </div>
      <FieldErrorList id="found-mistakes" mistakes={mistakes.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          {`Add ${agent}`.trim()}
        </button>
      </div>
    </form>
  )
}
