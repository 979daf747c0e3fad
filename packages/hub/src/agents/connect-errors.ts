/** Why a WebSocket could not be opened: its error event has no cause, such as ECONNREFUSED. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { operatorMessage } from '../json/operator-message.ts'

/** Of the implementation of WebSocket in Node. */
const channel = 'undici:client:connectError'

/** Calls `onError` with the message of each connection to the host of this URL that fails, until it is closed. */
export function watchConnectErrors(url: string, onError: (message: string) => void): { close(): void } {
  const { host } = new URL(url)
  const look = (message: unknown): void => {
    const { connectParams, error } = message as { readonly connectParams: { readonly host: string }; error: unknown }
    if (connectParams.host === host) onError(operatorMessage(error))
  }
  subscribe(channel, look)
  return { close: () => void unsubscribe(channel, look) }
}
