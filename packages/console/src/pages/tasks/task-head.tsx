/** What a task is, and what can be done with it. */
import type { TaskDetail } from '../../api/admin.ts'
import { call, pathOf } from '../../api/call.ts'
import { useActions } from '../../app/palette-state.ts'
import { go, query, setQuery } from '../../app/router.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Copy, copyText, Id } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { isOver, State } from '../../parts/state.tsx'
import { Ago } from '../../parts/time.tsx'
import { many } from '../../parts/words.ts'
import { asCurl } from './as-curl.ts'
import { canBeTest, exportTest, exportWhole } from './export-task.ts'
import { ResendTask } from './resend-task.tsx'
import type { TaskLog } from './task-log.ts'
import { listHref } from './task-places.ts'
import { titleOf, Took } from './task-row.tsx'

export function TaskHead({ detail, log }: { readonly detail: TaskDetail; readonly log: TaskLog }) {
  const { id, state } = detail
  const curl = (): string => asCurl(location.origin, pathOf('getTask', { params: { taskId: id } }))
  const playground = playgroundHref(detail)
  useActions([
    { title: 'Open this task in the playground', run: () => go(playground) },
    { title: 'Export this task as JSON', run: () => void exportWhole(detail) },
    { title: 'Export this task as a test', run: () => void exportTest(detail, log) },
    { title: 'Copy this task as curl', run: () => void copyText(curl()) },
  ])
  return (
    <>
      <header class="task-head">
        <a class="button plain icon small" href={listHref()} aria-label="Close" title="Close (Esc)">
          <Icon name="back" />
        </a>
        <State state={state} />
        <h2 class="cut" dir="auto" title={titleOf(detail)}>
          {titleOf(detail)}
        </h2>
        {!isOver(state) && (
          <Confirm
            label="Cancel"
            question="Cancel this task?"
            class="small"
            does={async () => void (await call('cancelTask', { params: { taskId: id } }))}
          >
            The agent is told to stop. A task that was canceled cannot go on.
          </Confirm>
        )}
        <Menu label="Resend" class="small" side="right">
          {() => <ResendTask detail={detail} />}
        </Menu>
        <Menu label="Export" class="small" side="right">
          {(close) => <ExportChoice detail={detail} log={log} close={close} />}
        </Menu>
        <Menu label="More to do" icon="more" class="small" side="right" isIconOnly>
          {() => (
            <>
              <a class="button plain" href={playground}>
                <Icon name="playground" size={14} /> Open in playground
              </a>
              <Copy text={curl} label="Copy the task as curl" class="plain">
                Copy as curl
              </Copy>
              <HideList />
            </>
          )}
        </Menu>
      </header>
      <Facts detail={detail} />
    </>
  )
}

export function playgroundHref({ agent, contextId, id }: Pick<TaskDetail, 'agent' | 'contextId' | 'id'>): string {
  return `/playground/${encodeURIComponent(agent)}?${new URLSearchParams({ context: contextId, task: id })}`
}

/** Two columns of frames want the whole width. */
function HideList() {
  const isOff = query.value.get('list') === 'off'
  return (
    <button type="button" class="plain" onClick={() => setQuery({ list: isOff ? undefined : 'off' })}>
      <Icon name="tasks" size={14} /> {isOff ? 'Show the list' : 'Hide the list'}
    </button>
  )
}

interface ExportProps {
  readonly detail: TaskDetail
  readonly log: TaskLog
  readonly close: () => void
}

function ExportChoice({ detail, log, close }: ExportProps) {
  const isSettled = canBeTest(detail)
  return (
    <>
      <button
        type="button"
        class="plain"
        onClick={() => {
          void exportWhole(detail)
          close()
        }}
      >
        <Icon name="braces" size={14} /> As JSON, with its events
      </button>
      <button
        type="button"
        class="plain"
        disabled={!isSettled}
        title={isSettled ? undefined : 'It has not come to an answer yet'}
        onClick={() => {
          void exportTest(detail, log)
          close()
        }}
      >
        <Icon name="check" size={14} /> As a test for node:test
      </button>
    </>
  )
}

function Facts({ detail }: { readonly detail: TaskDetail }) {
  const { id, agent, caller, contextId, createdAt, push } = detail
  return (
    <dl class="task-facts">
      <Fact name="agent">
        <a href={`/agents/${encodeURIComponent(agent)}`}>{agent}</a>
      </Fact>
      <Fact name="caller">
        <a href={`/tasks?caller=${encodeURIComponent(caller)}`}>{caller}</a>
      </Fact>
      <Fact name="created">
        <Ago at={createdAt} />
      </Fact>
      <Fact name="took">
        <Took task={detail} />
      </Fact>
      <Fact name="task">
        <Id id={id} what="task id" />
      </Fact>
      <Fact name="context">
        <Id id={contextId} what="context id" href={`/tasks?context=${encodeURIComponent(contextId)}`} />
      </Fact>
      {push.length > 0 && (
        <Fact name={many(push.length, 'webhook')}>
          {push.map(({ configId, url, state }) => (
            <a
              key={configId}
              class="task-webhook"
              href={`/push/${encodeURIComponent(id)}/${encodeURIComponent(configId)}`}
            >
              {hostOf(url)} {state === 'active' ? '' : state}
            </a>
          ))}
        </Fact>
      )}
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
