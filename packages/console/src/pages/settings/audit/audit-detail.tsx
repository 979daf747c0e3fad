/** All fields of one audit entry, and related links. */
import type { AuditEntry } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { CopyButton, CopyableId } from '../../../components/content/copy-button.tsx'
import { JsonTreeView } from '../../../components/content/json-tree.tsx'
import { DetailHead, Fact, FactList } from '../../../components/layout/page-head.tsx'
import { StatusBadge, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { formatExactTime } from '../../../components/time.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { formatDuration } from '../../../components/format.ts'
import { auditCursorAfter } from './audit-filters.ts'
import { outcomeStatus, auditAction, auditActor } from './audit-text.ts'

interface AuditDetailProps {
  readonly id: string
  /** The entry, if the list has it; then nothing is loaded. */
  readonly known: AuditEntry | undefined
  readonly backTo: string
}

export function AuditDetail({ id, known, backTo }: AuditDetailProps) {
  const isId = /^[0-9a-f-]{36}\.\d{1,5}$/.test(id)
  const loaded = useResource(`audit ${id}`, async (signal) => {
    if (known !== undefined || !isId) return { entry: known }
    const { entries } = await callAdmin('listAudit', { query: { before: auditCursorAfter(id), limit: 1 }, signal })
    return { entry: entries.find((one) => one.id === id) }
  })
  if (loaded.problem.value !== undefined) return <ErrorNotice reason={loaded.problem.value} retry={loaded.reload} />
  const found = loaded.value.value
  if (found === undefined) return <Loading what="the entry" />
  const entry = known ?? found.entry
  if (entry === undefined) {
    return (
      <EmptyState title="Entry not found">
        <p>
          Audit entries are kept for <code>retention.audit</code>.
        </p>
        <a class="button" href={backTo}>
          Back to audit
        </a>
      </EmptyState>
    )
  }
  return (
    <>
      <DetailHead title={`${auditActor(entry)}: ${auditAction(entry)}`} backTo={backTo}>
        <CopyButton text={() => JSON.stringify(entry, null, 2)} label="Copy entry" />
      </DetailHead>
      <div class="scroll stack">
        <EntryFacts entry={entry} />
        <h3>Raw entry</h3>
        <JsonTreeView value={entry} open={1} />
      </div>
    </>
  )
}

const auditFilterHref = (name: string, value: string): string =>
  `/settings/audit?${new URLSearchParams({ [name]: value })}`

function EntryFacts({ entry }: { readonly entry: AuditEntry }) {
  const { at, who, key, agent, task, operation, binding, version, state, outcome, status, from, durationMs } = entry
  const look = outcomeStatus(entry)
  return (
    <FactList>
      <Fact name="Time">{formatExactTime(new Date(at))}</Fact>
      <Fact name="Caller">
        {auditActor(entry)} {who !== undefined && <a href={auditFilterHref('who', who)}>Show all</a>}
      </Fact>
      {look !== undefined && (
        <Fact name="Outcome">
          <StatusBadge {...look} /> {status !== undefined && `status ${status}`}{' '}
          {outcome !== undefined && outcome !== 'OK' && <a href={auditFilterHref('outcome', outcome)}>Show all</a>}
        </Fact>
      )}
      {state !== undefined && (
        <Fact name="State">
          <TaskStateBadge state={state} />
        </Fact>
      )}
      {operation !== undefined && operation !== '' && (
        <Fact name="Operation">
          {operation} <a href={auditFilterHref('operation', operation)}>Show all</a>
        </Fact>
      )}
      {agent !== undefined && (
        <Fact name="Agent">
          <a href={`/agents/${encodeURIComponent(agent)}`}>{agent}</a>
        </Fact>
      )}
      {task !== undefined && (
        <Fact name="Task">
          <CopyableId id={task} what="task id" href={`/tasks/${encodeURIComponent(task)}`} />
        </Fact>
      )}
      {key !== undefined && (
        <Fact name="Key">
          <CopyableId id={key} what="key id" href={`/settings/keys?key=${encodeURIComponent(key)}`} />
        </Fact>
      )}
      {binding !== undefined && (
        <Fact name="Protocol">
          {binding} {version}
        </Fact>
      )}
      {from !== undefined && <Fact name="Address">{from}</Fact>}
      {durationMs !== undefined && <Fact name="Duration">{formatDuration(durationMs)}</Fact>}
    </FactList>
  )
}
