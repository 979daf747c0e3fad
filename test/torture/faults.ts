/** Faults of hubs and of the connections to them, on any store. Each fault repairs what it broke before it resolves. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { HubProcess } from './hub-process.ts'
import type { TortureEnvironment } from './environment.ts'
import type { Fault, Deployment } from './deployment.ts'

/** The last is longer than the window in which a repeated message is recognized, a day: that window does not depend on the wall clock. */
const stepsMs = [2_000, 60_000, 3_600_000, 12 * 3_600_000, 30 * 86_400_000]

export function pickFrom<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T
}

/** Deaths of processes. The deployment counts them. */
export function killFaults(world: Deployment): readonly Fault[] {
  const restart = async (hub: HubProcess): Promise<void> => {
    await world.kill(hub)
    await hub.start()
  }
  return [
    {
      kind: 'SIGKILL',
      share: 80,
      inject: (random) => restart(pickFrom(world.hubs, random)),
    },
    {
      kind: 'SIGKILL of all',
      share: 12,
      inject: async () => void (await Promise.all(world.hubs.map(restart))),
    },
    {
      kind: 'SIGKILL while starting',
      share: 20,
      async inject(random) {
        const hub = pickFrom(world.hubs, random)
        await world.kill(hub)
        const starting = hub.start().catch(() => {})
        await sleep(random() * 1_500)
        await world.kill(hub)
        await starting
        await hub.start()
      },
    },
  ]
}

export function commonFaults(world: Deployment, setting: TortureEnvironment): readonly Fault[] {
  return [
    {
      kind: 'SIGSTOP',
      share: 5,
      async inject(random) {
        const hub = pickFrom(world.hubs, random)
        hub.pause()
        await sleep(200 + random() * 3_000)
        hub.resume()
      },
    },
    {
      kind: 'clock step',
      share: 5,
      async inject(random) {
        const hub = pickFrom(world.hubs, random)
        const sizeMs = pickFrom(stepsMs, random)
        hub.setClock(random() < 0.5 ? sizeMs : -sizeMs)
        await sleep(500 + random() * 1_500)
        // Killed with a stepped clock, and restarted with the right one.
        if (random() < 0.3) {
          await world.kill(hub)
          hub.setClock(0)
          await hub.start()
        }
        hub.setClock(0)
      },
    },
    ...proxyFaults(world),
    {
      kind: 'config reload',
      share: 3,
      async inject(random) {
        setting.writeConfig()
        if (random() < 0.5) for (const hub of world.hubs) hub.reload()
        await sleep(200)
      },
    },
  ]
}

/** Between clients and hubs. */
export function proxyFaults(world: Deployment): readonly Fault[] {
  return [
    {
      kind: 'clients cut off',
      share: 3,
      async inject(random) {
        world.clientProxy.set('cut')
        await sleep(random() * 800)
        world.clientProxy.set('open')
      },
    },
    {
      kind: 'clients black-holed',
      share: 3,
      async inject(random) {
        world.clientProxy.set('silent')
        await sleep(500 + random() * 2_500)
        world.clientProxy.set('open')
      },
    },
  ]
}
