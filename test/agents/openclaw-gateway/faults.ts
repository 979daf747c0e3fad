/** Each way in which a fake gateway can misbehave, or differ from the usual one. Tests set and clear them as they like. */
export interface GatewayFaults {
  /** Speaks another version of the protocol only. */
  protocol: number
  /** Says so often that it is still starting. */
  starting: number
  /** Wants devices approved first. */
  pairing: boolean
  /** Treats us as a peer from another machine: without a device there are no scopes. */
  remote: boolean
  /** Takes connections and never says anything. */
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
  /** Sends only what is new of a text, as gateways of before did. */
  deltasOnly: boolean
  /** Takes its first words back. */
  replaces: boolean
  /** What the final says instead of what was streamed. */
  finalText: string | undefined
  /** How a failing run ends. */
  failure: 'third form' | 'plain'
  /** The provider is tried again this often before it answers. */
  retries: number
  /** Sends the stray events that follow an abort. */
  straysAfterAbort: boolean
  /** Offers no `skills.status`. */
  noSkillsStatus: boolean
  /** The HTTP endpoint: on, off, or as older gateways had it. */
  http: 'on' | 'off' | 'older'
  /** The WebSocket cannot be had, as behind a proxy that knows none. */
  noWebSocket: boolean
  /** The gateway asks before it runs commands. */
  asksForApproval: boolean
  tickMs: number
  imageBytes: number
  fileBytes: number
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
  replaces: false,
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
})
