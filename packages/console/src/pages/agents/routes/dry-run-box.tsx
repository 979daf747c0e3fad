/** A form that asks which rule a message would match, and why. Nothing is sent; the address holds the input. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Agent, Route, RouteDecision } from '../../../api/admin.ts'
import type { Resource } from '../../../api/resource.ts'
import { navigate } from '../../../app/router.ts'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { CheckField, TextField } from '../../../components/form/form-fields.tsx'
import { ErrorNotice } from '../../../components/status/error-notice.tsx'
import { Decision } from './decision.tsx'
import { decideRouteCurl, dryRunHref, splitPartKinds, metadataError, emptyDryRun, type DryRun } from './dry-run.ts'

const partNames = { data: 'data', file: 'file' }

export interface DryRunBoxProps {
  readonly agent: string
  /** `undefined` if nothing was asked yet. */
  readonly run: DryRun | undefined
  readonly decision: Resource<RouteDecision | undefined>
  readonly rules: readonly Route[]
  readonly agents: readonly Agent[]
}

export function DryRunBox({ agent, run, decision, rules, agents }: DryRunBoxProps) {
  const draft = useSignal(run ?? emptyDryRun(agent))
  const asked = JSON.stringify(run)
  // A new address means a new message.
  useEffect(() => {
    draft.value = run ?? emptyDryRun(agent)
  }, [asked])
  const { text, skill, caller, metadata, parts } = draft.value
  const set = (changes: Partial<DryRun>): void => {
    draft.value = { ...draft.value, ...changes }
  }
  const mistake = metadataError(metadata)
  const { value: found } = decision.value
  const { value: problem } = decision.problem

  function ask(event: Event): void {
    event.preventDefault()
    if (mistake === undefined) navigate(dryRunHref(draft.value))
  }

  return (
    <section class="stack routes-try" aria-labelledby="routes-try">
      <div class="routes-try-head">
        <h2 id="routes-try">Test route</h2>
        <span class="faint">Nothing is sent.</span>
        <span class="grow" />
        {run !== undefined && (
          <>
            <CopyButton text={() => decideRouteCurl(location.origin, run)} label="Copy as curl" class="small">
              curl
            </CopyButton>
            <a class="button small plain" href={dryRunHref(agent)}>
              Clear
            </a>
          </>
        )}
      </div>
      <form class="stack routes-form" onSubmit={ask}>
        <div class="field">
          <label for="try-text">Text</label>
          <textarea
            id="try-text"
            rows={3}
            value={text}
            placeholder="Text of the message"
            onInput={(event) => set({ text: event.currentTarget.value })}
          />
        </div>
        <details open={skill + caller + metadata + parts !== ''}>
          <summary>Skill, caller, metadata, parts</summary>
          <div class="routes-more">
            <div class="field">
              <label for="try-skill">Skill</label>
              <input
                id="try-skill"
                list="try-skills"
                value={skill}
                onInput={(event) => set({ skill: event.currentTarget.value })}
              />
              <datalist id="try-skills">
                {(agents.find(({ name }) => name === agent)?.skills ?? []).map(({ id }) => (
                  <option key={id} value={id} />
                ))}
              </datalist>
            </div>
            <TextField
              id="try-caller"
              label="Caller"
              placeholder="you"
              value={caller}
              onValue={(value) => set({ caller: value })}
            />
            <div class="field routes-whole">
              <label for="try-metadata">Metadata (JSON)</label>
              <textarea
                id="try-metadata"
                class="mono"
                rows={2}
                value={metadata}
                placeholder={'{"order": {"kind": "a"}}'}
                aria-invalid={mistake !== undefined}
                aria-describedby={mistake === undefined ? undefined : 'try-mistake'}
                onInput={(event) => set({ metadata: event.currentTarget.value })}
              />
              {mistake !== undefined && (
                <p id="try-mistake" class="mistake">
                  {mistake}
                </p>
              )}
            </div>
            <Parts parts={parts} onChange={(wanted) => set({ parts: wanted })} />
          </div>
        </details>
        <button type="submit" class="primary" disabled={mistake !== undefined}>
          Test route
        </button>
      </form>
      <div aria-live="polite">
        {problem !== undefined && run !== undefined && <ErrorNotice reason={problem} retry={decision.reload} />}
        {found !== undefined && problem === undefined && (
          <Decision agent={agent} decision={found} rules={rules} agents={agents} />
        )}
      </div>
    </section>
  )
}

function Parts({ parts, onChange }: { readonly parts: string; readonly onChange: (parts: string) => void }) {
  const kinds = splitPartKinds(parts)
  const types = kinds.filter((kind) => kind !== 'data' && kind !== 'file')
  const toggle = (kind: string, isWanted: boolean): void =>
    onChange((isWanted ? [...kinds, kind] : kinds.filter((one) => one !== kind)).join(','))
  return (
    <fieldset class="field routes-whole routes-parts">
      <legend>Other parts</legend>
      {(['data', 'file'] as const).map((kind) => (
        <CheckField key={kind} checked={kinds.includes(kind)} onChange={(isOn) => toggle(kind, isOn)}>
          {partNames[kind]}
        </CheckField>
      ))}
      <input
        aria-label="Media type of a file"
        placeholder="image/png"
        value={types.join(',')}
        onInput={(event) =>
          onChange(
            [...kinds.filter((kind) => !types.includes(kind)), ...splitPartKinds(event.currentTarget.value)].join(','),
          )
        }
      />
    </fieldset>
  )
}
