// When jobs are retried, and how long they are kept.

export const queueOptions = {
  // With waits doubling from 5 s to 1 h, this retries for two days.
  retryLimit: 50,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 3600,
  // A worker keeps a job as long as it sends heartbeats, for at most `expireInSeconds`: the longest that pg-boss allows, as a mail server may be
  // slow.
  expireInSeconds: 24 * 3600,
  heartbeatSeconds: 10, // a worker without a heartbeat for this long is considered dead …
  retentionSeconds: 3 * 24 * 3600,
  deleteAfterSeconds: 24 * 3600,
};
export const superviseSeconds = 5; // … and its jobs are retried this soon after
