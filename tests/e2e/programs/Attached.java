import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;
import java.util.stream.*;
import java.util.zip.*;

/* Threads that compute, wait for one another, allocate and fault as the virtual machine has them do (null pointers and safepoints are SIGSEGV);
 * each knows what has to come out. Says "ready"; with the end of stdin it ends, and the last line is "wrong N of M". */
public class Attached {
	static final AtomicLong wrong = new AtomicLong(), turns = new AtomicLong();
	static volatile boolean ending;
	static long shared;

	static Thread again(String what, BooleanSupplier work) {
		Thread thread = new Thread(() -> {
			while (!ending) {
				boolean good = false;
				try {
					good = work.getAsBoolean();
				} catch (Throwable error) {
					System.out.println(what + ": " + error);
				}
				turns.incrementAndGet();
				if (!good)
					wrong.incrementAndGet();
			}
		}, what);
		thread.start();
		return thread;
	}

	static long sum(long n) {
		return LongStream.range(0, n).parallel().map(i -> i * i % 7).sum();
	}

	static boolean nothing(Object[] rows, int i) {
		try {
			return rows[i].hashCode() == 42 && rows[i] != null;
		} catch (NullPointerException error) {
			return rows[i] == null;
		}
	}

	static int depth(int n) {
		return n == 0 ? 0 : 1 + depth(n - 1);
	}

	static boolean overflow() {
		try {
			return depth(Integer.MAX_VALUE) < 0;
		} catch (StackOverflowError error) {
			return true;
		}
	}

	static boolean births() throws InterruptedException {
		long before = shared;
		Thread[] threads = new Thread[4];
		for (int t = 0; t < threads.length; t++) {
			threads[t] = new Thread(() -> {
				for (int i = 0; i < 500; i++)
					synchronized (Attached.class) { shared++; }
			});
			threads[t].start();
		}
		for (Thread thread : threads)
			thread.join();
		return shared == before + 2000;
	}

	static boolean queues() throws InterruptedException {
		SynchronousQueue<Integer> queue = new SynchronousQueue<>();
		Thread other = new Thread(() -> {
			try {
				for (int i = 0; i < 50; i++)
					queue.put(i);
			} catch (InterruptedException error) {
				wrong.incrementAndGet();
			}
		});
		other.start();
		int got = 0;
		for (int i = 0; i < 50; i++)
			got += queue.poll(60, TimeUnit.SECONDS);
		other.join();
		return got == 1225 && queue.poll(1, TimeUnit.MILLISECONDS) == null;
	}

	static boolean garbage() {
		List<byte[]> rows = new ArrayList<>();
		int bytes = 0;
		for (int i = 0; i < 300; i++) {
			rows.add(new byte[20000]);
			bytes += rows.get(rows.size() - 1).length;
			if (rows.size() > 100)
				rows.clear();
		}
		return bytes == 6000000;
	}

	interface Work { boolean run() throws Exception; }

	static BooleanSupplier of(Work work) {
		return () -> {
			try {
				return work.run();
			} catch (Exception error) {
				throw new RuntimeException(error);
			}
		};
	}

	public static void main(String[] args) throws Exception {
		byte[] data = new byte[500000];
		new Random(1).nextBytes(data);
		CRC32 crc = new CRC32();
		crc.update(data);
		long expected = sum(100000), code = crc.getValue();
		Object[] rows = { null, 1, null };
		List<Thread> threads = List.of(
			again("sum", () -> sum(100000) == expected),
			again("crc", () -> { CRC32 c = new CRC32(); c.update(data); return c.getValue() == code; }),
			again("null", () -> nothing(rows, 0) && nothing(rows, 2)),
			again("depth", Attached::overflow),
			again("births", of(Attached::births)),
			again("queues", of(Attached::queues)),
			again("garbage", Attached::garbage),
			again("sleep", of(() -> { long began = System.nanoTime(); Thread.sleep(10); return System.nanoTime() - began >= 10000000; })));
		System.out.println("ready");
		while (System.in.read() >= 0)
			;
		ending = true;
		for (Thread thread : threads)
			thread.join();
		System.out.println("wrong " + wrong + " of " + turns);
		System.exit(0);
	}
}
