/** What calls need of a media server: it receives the streams of each device and forwards them to the others. */

/** One end of a WebRTC connection at the media server. */
export interface Connection {
  /** How the media server calls it. Devices never see it. */
  handle: string
  /** The media server's description, with all its candidates. */
  sdp: string
}

export interface MediaServer {
  /** The address, which calls keep while they are on this server. */
  readonly address: string
  /** Receives what a device sends. `offer` is the device's description, with all its candidates. */
  publish(room: string, offer: string): Promise<Connection>
  /** Offers what the connection `publisher` receives to another device, which has to answer. */
  subscribe(room: string, publisher: string): Promise<Connection>
  /** Takes the device's answer to such an offer. A second answer does nothing. */
  answer(handle: string, sdp: string): Promise<void>
  /**
   * Records what a connection receives from now on, in files whose names begin with this one; without a name, ends that. They
   * are in a folder with the name of the room.
   */
  record(handle: string, name: string | undefined): Promise<void>
  /** Ends a connection. Does nothing if there is none. */
  drop(handle: string): Promise<void>
  /** Ends a room with all its connections. */
  close(room: string): Promise<void>
  /** How many devices send something. */
  load(): Promise<number>
  /** Ends what this process has started. */
  stop(): void
}

/** The media server doesn't know the room or the connection: it was restarted, or dropped it. */
export class MediaGone extends Error {}

/** The device that sends isn't connected yet, so nobody can receive it. */
export class MediaNotReady extends Error {}

/** The media server answers that it can't. It works, so the call stays on it. */
export class MediaFailed extends Error {}

/** The media server refuses a description. */
export class MediaRefused extends Error {}
