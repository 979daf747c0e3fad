/** One prompt for two agents: both answers live, side by side, with their times, tokens and cost. */
import type { Part } from '@parley/a2a'
import { useEffect, useMemo } from 'preact/hooks'
import type { Agent } from '../../../api/admin.ts'
import type { Resource } from '../../../api/resource.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { query, setQuery } from '../../../app/router.ts'
import { Icon } from '../../../components/icon.tsx'
import { PageHead } from '../../../components/layout/page-head.tsx'
import { LoadState } from '../../../components/status/error-notice.tsx'
import { createAgentConnections } from '../agent-connections.ts'
import { createChatSession, type ChatSession } from '../chat-session.ts'
import { Composer } from '../composer/composer.tsx'
import { createProtocolLog } from '../protocol/protocol-log.ts'
import { RequestOptionsBar } from '../request-options-bar.tsx'
import { playgroundParams } from '../playground-params.ts'
import { comparePlace, compareSides, type CompareSide } from './compare-params.ts'
import { CompareResult } from './compare-result.tsx'
import './compare.css'

interface ComparePageProps {
  readonly all: Resource<readonly Agent[]>
  readonly caller: () => string
}

export function ComparePage({ all, caller }: ComparePageProps) {
  const where = playgroundParams()
  const sessions = { left: useCompareSession('left', caller), right: useCompareSession('right', caller) }
  const open = compareSides.flatMap((side) => sessions[side] ?? [])
  const known = all.value.value ?? []
  const isBusy = open.some(({ phase }) => phase.value === 'sending' || phase.value === 'following')
  const hasTasks = open.some(({ tasks }) => tasks.value.length > 0)
  const focusComposer = (): void => document.querySelector<HTMLElement>('.composer-text')?.focus()

  function send(parts: readonly Part[]): void {
    setQuery({ text: undefined })
    for (const play of open) play.send(parts, { ...where, taskId: undefined })
  }

  function reset(): void {
    setQuery({ leftTask: undefined, rightTask: undefined })
    for (const play of open) play.open({ contextId: undefined, taskId: undefined }, where)
    focusComposer()
  }

  function swap(): void {
    const [left, right] = compareSides.map(comparePlace)
    setQuery({ left: right?.agent, right: left?.agent, leftTask: right?.taskId, rightTask: left?.taskId })
  }

  useShortcuts([
    { key: 'n', label: 'New comparison', run: reset },
    { key: 'i', label: 'Write a message', run: focusComposer },
  ])
  return (
    <>
      <PageHead title="Compare agents" backTo="/playground">
        <button type="button" onClick={swap}>
          Swap
        </button>
        <button type="button" onClick={reset} disabled={!hasTasks}>
          <Icon name="plus" size={14} /> New comparison
        </button>
      </PageHead>
      <LoadState of={all} what="the agents" />
      <div class="compare">
        {compareSides.map((side) => (
          <CompareResult
            key={side}
            side={side}
            agents={known}
            place={comparePlace(side)}
            play={sessions[side]}
            onChoose={(agent) => setQuery({ [side]: agent, [`${side}Task`]: undefined }, { push: true })}
          />
        ))}
      </div>
      <div class="chat-foot compare-foot">
        <div class="stack-small reply">
          <Composer
            key={where.text}
            agent="(compare)"
            context=""
            label="Message both agents"
            initial={where.text}
            isBusy={isBusy}
            canSend={open.length === 2 && !isBusy}
            onSend={send}
            onCancel={() => {
              for (const play of open) if (play.phase.peek() !== 'still') void play.cancel(where)
            }}
          />
          <RequestOptionsBar where={where} retry={undefined} asCurl={undefined} cancel={undefined} />
        </div>
      </div>
    </>
  )
}

/** The conversation with the agent of one side, which the address names. */
function useCompareSession(side: CompareSide, caller: () => string): ChatSession | undefined {
  const { agent, taskId } = comparePlace(side)
  const where = playgroundParams()
  const play = useMemo(
    () =>
      agent === undefined ? undefined : createChatSession(agent, createAgentConnections(createProtocolLog()), caller),
    [agent],
  )
  useEffect(() => () => play?.close(), [play])
  useEffect(() => {
    if (taskId !== undefined && taskId !== play?.location.peek().taskId)
      play?.open({ contextId: undefined, taskId }, where)
  }, [play, taskId])
  useEffect(
    () =>
      play?.location.subscribe(({ taskId: task }) => {
        if (task !== undefined && task !== query.peek().get(`${side}Task`)) setQuery({ [`${side}Task`]: task })
      }),
    [play],
  )
  return play
}
