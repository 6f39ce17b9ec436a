// Workers, timers, files, a server and libuv's threads, each of which knows what has to come out. Says "ready"; with the end of stdin it ends,
// and the last line is "wrong N of M".
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const crypto = require('crypto'), fs = require('fs'), net = require('net'), path = require('path'), zlib = require('zlib');
const { promisify } = require('util');

const ROUNDS = 200000;

function sum(factor) {
	let value = factor;
	for (let i = 0; i < ROUNDS; i++)
		value = (value * 31 + i) % 1000003;
	return value;
}

if (isMainThread) {
	main(process.argv[2]);
} else {
	// Objects for the collector, and code that is compiled while it runs.
	setInterval(() => {
		const rows = Array.from({ length: 5000 }, (_, i) => ({ n: i, text: `row ${i}` }));
		parentPort.postMessage([sum(workerData), rows.reduce((length, row) => length + row.text.length, 0)]);
	}, 5);
}

function main(folder) {
	const sums = [3, 5].map(sum), lengths = 4 * 5000 + 10 + 2 * 90 + 3 * 900 + 4 * 4000;
	const data = Buffer.alloc(300000, 'abcdefghij'), key = crypto.pbkdf2Sync('a', 'b', 2000, 16, 'sha256').toString('hex');
	let wrong = 0, turns = 0, ending = false;
	const check = (good, what) => {
		turns++;
		if (!good) {
			wrong++;
			console.log('wrong:', what);
		}
	};
	const workers = sums.map((expected, i) => {
		const worker = new Worker(__filename, { workerData: [3, 5][i] });
		worker.on('message', ([value, length]) => check(value === expected && length === lengths, 'worker'));
		worker.on('error', error => check(false, error));
		return worker;
	});
	const again = async (what, work) => {
		while (!ending) {
			try {
				check(await work(), what);
			} catch (error) {
				check(false, `${what}: ${error}`);
			}
		}
	};
	const server = net.createServer(socket => socket.on('data', text => socket.write(text.toString().toUpperCase())));
	const file = path.join(folder, 'attached.txt'), at = path.join(folder, 'attached.sock');
	const talk = () => new Promise((resolve, reject) => {
		const socket = net.connect(at, () => socket.write('hello'));
		socket.on('data', text => { socket.destroy(); resolve(text.toString() === 'HELLO'); });
		socket.on('error', reject);
	});
	const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
	server.listen(at, async () => {
		const loops = [
			again('key', async () => (await promisify(crypto.pbkdf2)('a', 'b', 2000, 16, 'sha256')).toString('hex') === key),
			again('zip', async () => (await promisify(zlib.gunzip)(await promisify(zlib.gzip)(data))).equals(data)),
			again('file', async () => {
				await fs.promises.writeFile(file, data);
				return (await fs.promises.readFile(file)).equals(data);
			}),
			again('socket', async () => { await pause(1); return talk(); }),
			again('timer', async () => { const began = performance.now(); await pause(10); return performance.now() - began >= 8; }),
		];
		process.stdin.resume();
		process.stdin.on('end', async () => {
			ending = true;
			await Promise.all(loops);
			await Promise.all(workers.map(worker => worker.terminate()));
			console.log(`wrong ${wrong} of ${turns}`);
			process.exit(0);
		});
		console.log('ready');
	});
}
