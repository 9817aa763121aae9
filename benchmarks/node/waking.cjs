// How long a parked worker takes to have a job. Producer and worker are two processes; a job's payload is when it was
// handed in, on the monotonic clock that all processes share. The worker sends "ready", then the ms of each job.
const { fork } = require("node:child_process");

const PARKS_WITHIN_MS = 5;

exports.isWorker = () => process.send !== undefined;
exports.ready = () => process.send("ready");
exports.stamp = () => String(process.hrtime.bigint());
exports.had = (payload) => process.send(Number(process.hrtime.bigint() - BigInt(payload)) / 1e6);

exports.wake = async (send, jobs) => {
  const worker = fork(process.argv[1], process.argv.slice(2));
  const next = () => new Promise((resolve) => worker.once("message", resolve));
  await next();
  const took = [];
  for (let number = 0; number < jobs; number += 1) {
    await new Promise((resolve) => setTimeout(resolve, PARKS_WITHIN_MS * (1 + Math.random())));
    const answer = next();
    await send(exports.stamp());
    took.push(await answer);
  }
  worker.kill("SIGKILL");
  took.sort((one, other) => one - other);
  const at = (share) => took[Math.min(Math.floor(took.length * share), took.length - 1)];
  console.log(JSON.stringify({ p50_ms: at(0.5), p99_ms: at(0.99) }));
  process.exit(0);
};
