/** Each way in which a fake gateway can misbehave, or differ from the usual one. Tests set and clear them as they like. */
export interface GatewayFaults {
  /** Supports only another version of the protocol. */
  protocol: number
  /** How often it reports that it is still starting. */
  starting: number
  /** Requires approval of devices. */
  pairing: boolean
  /** Treats the hub as a peer from another machine: no scopes without a device. */
  remote: boolean
  /** Accepts connections and never sends anything. */
  mute: boolean
  /** Closes the connection when it gets such a request, before it answers. */
  cutOn: string | undefined
  /** Closes it when the answer to such a request has been sent. */
  cutAfter: string | undefined
  /** Sends the events of other runs and sessions in between. */
  noisy: boolean
  /** Leaves out numbers of a run, as it does when it joins events. */
  joins: boolean
  /** Loses this many events of the stream `assistant`, numbers and all. */
  loses: number
  /** Sends only the new part of a text, as older gateways did. */
  deltasOnly: boolean
  /** Retracts its first output when this resolves. */
  replaces: Promise<void> | undefined
  /** The text of the final event, if it differs from the streamed text. */
  finalText: string | undefined
  /** How a failing run ends. */
  failure: 'third form' | 'plain'
  /** How often the provider is retried before it answers. */
  retries: number
  /** Sends the stray events that follow an abort. */
  straysAfterAbort: boolean
  /** Offers no `skills.status`. */
  noSkillsStatus: boolean
  /** The HTTP endpoint: on, off, or with the behavior of older gateways. */
  http: 'on' | 'off' | 'older'
  /** The WebSocket is unavailable, as behind a proxy without support for it. */
  noWebSocket: boolean
  /** Commands require approval. */
  asksForApproval: boolean
  tickMs: number
  /** Older gateways declare no limits. */
  imageBytes: number | undefined
  fileBytes: number | undefined
  frameBytes: number
}

export const noFaults = (): GatewayFaults => ({
  protocol: 4,
  starting: 0,
  pairing: false,
  remote: false,
  mute: false,
  cutOn: undefined,
  cutAfter: undefined,
  noisy: false,
  joins: false,
  loses: 0,
  deltasOnly: false,
  replaces: undefined,
  finalText: undefined,
  failure: 'plain',
  retries: 0,
  straysAfterAbort: true,
  noSkillsStatus: false,
  http: 'on',
  noWebSocket: false,
  asksForApproval: false,
  tickMs: 30_000,
  imageBytes: 6_291_456,
  fileBytes: 19_464_192,
  frameBytes: 26_214_400,
})
