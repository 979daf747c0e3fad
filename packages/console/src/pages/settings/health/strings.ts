/** The words of the health page. */
import { formatCount, pluralize } from '../../../components/format.ts'

export const healthStrings = {
  what: 'the health of the hub',
  summary: {
    away: 'The hub is not responding',
    awayHint: 'These values are outdated. The page reconnects automatically.',
    issues: (count: number) => pluralize(count, 'issue'),
    warnings: (count: number) => `Healthy, with ${pluralize(count, 'warning')}`,
    healthy: 'Healthy',
    issue: 'issue',
    warning: 'warning',
  },
  findings: {
    storeDown: 'The store is not responding',
    storeDownNext: (store: string) =>
      `No task can start or finish. Check that ${store} is reachable and has free space. The hub resumes automatically, and accepted tasks are kept.`,
    storeSlow: 'The store is slow',
    storeSlowWhy: (store: string, time: string) => `${store} took ${time} to respond.`,
    storeSlowNext: 'Check what else uses its disk or its database.',
    openAgent: 'Open agent',
    failedTasks: 'Failed tasks',
    states: {
      blocked: {
        title: (agent: string) => `${agent} is blocked: its card has changed`,
        next: 'Compare the cards, and approve the new one if the change is intended.',
      },
      unavailable: {
        title: (agent: string) => `${agent} failed to start`,
        next: 'Callers are refused until it has started.',
      },
      down: {
        title: (agent: string) => `${agent} is not responding`,
        next: 'Retrying automatically. Check that it is running and that its URL and credentials are correct.',
      },
      failing: {
        title: (agent: string) => `Tasks of ${agent} fail`,
        next: 'It still accepts messages. The failed tasks show why.',
      },
      slow: {
        title: (agent: string) => `${agent} is slow`,
        next: 'It accepts messages, but responds later than usual.',
      },
    },
    pausedNext: 'No work is delegated to it for a while. It is then tried again automatically.',
    cardChanged: (agent: string) => `The card of ${agent} has changed`,
    cardChangedNext: 'Calls continue. Compare the cards, and approve the new one if the change is intended.',
    errors: (errors: number, requests: number) =>
      `${formatCount(errors)} of ${pluralize(requests, 'request')} failed in the last 5 minutes`,
    errorsNext: 'The audit log shows who was affected, and by which agent.',
    openAudit: 'Open audit log',
    webhooks: (count: number) =>
      count >= 100
        ? '100 or more webhooks are undeliverable'
        : `${pluralize(count, 'webhook')} ${count === 1 ? 'is' : 'are'} undeliverable`,
    webhooksNext: 'Their receivers refused an event, or failed at every attempt. Fix them, then redeliver.',
    openWebhooks: 'Open webhooks',
  },
  parts: {
    title: 'Components',
    store: 'Store',
    storeReady: (name: string, time: string) => `${name}, responds in ${time}`,
    storeDown: (name: string) => `${name}, not responding`,
    agents: 'Agents',
    agentsUp: (up: number, all: number) => `${up} of ${all} up`,
    size: 'Size',
    grownInDay: (bytes: string) => `, ${bytes} more than a day ago`,
    oldestTask: 'Oldest task',
    lastBackup: 'Last backup',
    noBackup: 'None known',
    streams: 'Open streams',
    webhooks: 'Webhooks',
    webhooksOff: 'Disabled',
    webhooksGood: 'All deliverable',
    webhooksDead: (count: number) => `${formatCount(count)} undeliverable`,
    version: 'Version',
    versions: (parley: string, node: string) => `Parley ${parley}, Node ${node}`,
    protocols: 'A2A versions',
    uptime: 'Uptime',
    since: ', since ',
    instance: 'Instance',
    instanceId: 'instance',
    tasks: 'Tasks',
    noTasks: 'No tasks yet.',
    firstMessage: 'Send a first message',
  },
} as const
