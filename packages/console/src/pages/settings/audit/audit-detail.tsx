/** All that was written down of one thing that was done, and the ways on from it. */
import type { AuditEntry } from '../../../api/admin.ts'
import { call } from '../../../api/call.ts'
import { useResource } from '../../../api/resource.ts'
import { Copy, Id } from '../../../parts/copy.tsx'
import { Json } from '../../../parts/json.tsx'
import { DetailHead, Fact, Facts } from '../../../parts/sheet.tsx'
import { Mark, State } from '../../../parts/state.tsx'
import { exact } from '../../../parts/time.tsx'
import { Empty, Loading, Trouble } from '../../../parts/trouble.tsx'
import { duration } from '../../../parts/words.ts'
import { placeAfter } from './audit-filters.ts'
import { outcomeLook, whatOf, whoOf } from './audit-words.ts'

interface AuditDetailProps {
  readonly id: string
  /** If it is in the list: nothing has to be asked for then. */
  readonly known: AuditEntry | undefined
  readonly backTo: string
}

export function AuditDetail({ id, known, backTo }: AuditDetailProps) {
  const isId = /^[0-9a-f-]{36}\.\d{1,5}$/.test(id)
  const loaded = useResource(`audit ${id}`, async (signal) => {
    if (known !== undefined || !isId) return { entry: known }
    const { entries } = await call('listAudit', { query: { before: placeAfter(id), limit: 1 }, signal })
    return { entry: entries.find((one) => one.id === id) }
  })
  if (loaded.problem.value !== undefined) return <Trouble reason={loaded.problem.value} retry={loaded.reload} />
  const found = loaded.value.value
  if (found === undefined) return <Loading what="the entry" />
  const entry = known ?? found.entry
  if (entry === undefined) {
    return (
      <Empty title="This entry is not there any more">
        <p>
          The audit is kept for as long as <code>retention.audit</code> says.
        </p>
        <a class="button" href={backTo}>
          Back to the audit
        </a>
      </Empty>
    )
  }
  return (
    <>
      <DetailHead title={`${whoOf(entry)}: ${whatOf(entry)}`} backTo={backTo}>
        <Copy text={() => JSON.stringify(entry, null, 2)} label="Copy the entry" />
      </DetailHead>
      <div class="scroll stack">
        <EntryFacts entry={entry} />
        <h3>As it was written</h3>
        <Json value={entry} open={1} />
      </div>
    </>
  )
}

const only = (name: string, value: string): string => `/settings/audit?${new URLSearchParams({ [name]: value })}`

function EntryFacts({ entry }: { readonly entry: AuditEntry }) {
  const { at, who, key, agent, task, operation, binding, version, state, outcome, status, from, durationMs } = entry
  const look = outcomeLook(entry)
  return (
    <Facts>
      <Fact name="When">{exact(new Date(at))}</Fact>
      <Fact name="Who">
        {whoOf(entry)} {who !== undefined && <a href={only('who', who)}>all of theirs</a>}
      </Fact>
      {look !== undefined && (
        <Fact name="Outcome">
          <Mark {...look} /> {status !== undefined && `status ${status}`}{' '}
          {outcome !== undefined && outcome !== 'OK' && <a href={only('outcome', outcome)}>all of these</a>}
        </Fact>
      )}
      {state !== undefined && (
        <Fact name="State">
          <State state={state} />
        </Fact>
      )}
      {operation !== undefined && operation !== '' && (
        <Fact name="Operation">
          {operation} <a href={only('operation', operation)}>all of these</a>
        </Fact>
      )}
      {agent !== undefined && (
        <Fact name="Agent">
          <a href={`/agents/${encodeURIComponent(agent)}`}>{agent}</a>
        </Fact>
      )}
      {task !== undefined && (
        <Fact name="Task">
          <Id id={task} what="task id" href={`/tasks/${encodeURIComponent(task)}`} />
        </Fact>
      )}
      {key !== undefined && (
        <Fact name="Key">
          <Id id={key} what="key id" href={`/settings/keys?key=${encodeURIComponent(key)}`} />
        </Fact>
      )}
      {binding !== undefined && (
        <Fact name="Spoken">
          {binding} {version}
        </Fact>
      )}
      {from !== undefined && <Fact name="From">{from}</Fact>}
      {durationMs !== undefined && <Fact name="Took">{duration(durationMs)}</Fact>}
    </Facts>
  )
}
